"""Measure the bay plan on the page of the service at three sizes: how soon it is there, and how many frames a second it draws.

A service of its own gets each cluster; Chromium opens the page without a graphics card. Each action runs for some seconds: before
every frame the view is changed, then all of it is drawn anew. `draw_ms` and `draw_p95_ms` are the time that drawing one frame
takes, the rest of a frame is the browser's. Rows are appended to `benchmarks/serve_page.csv`. Needs chromium (or
BAYPLAN_CHROMIUM) and the extras [browser] and [serve].

    python -m benchmarks.serve_page
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from experiments.results import append, commit, machine
from tests.builders.served import ServerProcess

import bayplan as bp

RESULTS = Path(__file__).parent / "serve_page.csv"
COLUMNS = ("commit", "machine", "machines", "containers", "action", "frames_a_second", "draw_ms", "draw_p95_ms", "ready_s")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
CLUSTERS = ("boutique", "rasa-m3", "rasa-m2")
SECONDS = 5
ACTIONS = {  # what changes before each frame; `k` counts frames
    "pan": "bay.view.scale = 2.5; bay.view.pan(k % 120 < 60 ? -5 : 5, k % 90 < 45 ? -3 : 3)",
    "zoom": "bay.view.zoom(k % 80 < 40 ? 1.05 : 1 / 1.05, 420, 260)",
    "all in sight": "bay.view.fit()",
}
MEASURE = """async ([change, seconds]) => {
  const { bay } = bayplan.panels.overview.card, act = CHANGES[change], spent = [], began = performance.now();
  for (let k = 0; performance.now() - began < 1000 * seconds; k++) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    act(bay, k);
    bay.draw();
    spent.push(performance.now() - start);
  }
  const whole = (performance.now() - began) / 1000;
  spent.sort((a, b) => a - b);
  return [spent.length / whole, spent[Math.floor(spent.length / 2)], spent[Math.floor(spent.length * 0.95)]];
}""".replace("CHANGES", "({" + ", ".join(f"'{name}': (bay, k) => {{ {code}; }}" for name, code in ACTIONS.items()) + "})")


def main() -> None:
    """Measure every cluster, and append the rows."""
    from playwright.sync_api import sync_playwright

    executable = os.environ.get("BAYPLAN_CHROMIUM") or shutil.which("chromium")
    if executable is None:
        sys.exit("no chromium: install it, or name the executable with BAYPLAN_CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, ServerProcess(folder=Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        for name in CLUSTERS:
            cluster = bp.generate(name).cluster
            _send(server, name, Path(folder))
            size = {"machines": str(len(cluster.machines.name)), "containers": str(len(cluster.containers.name))}
            for row in _measured(browser, server.address.url):
                append(RESULTS, COLUMNS, [{"commit": commit(), "machine": machine(), **size, **row}])
                print(f"{name}, {row['action']}: {row['frames_a_second']} frames a second, {row['draw_ms']} ms each")
        browser.close()


def _send(server: ServerProcess, name: str, folder: Path) -> None:
    file = folder / f"{name}.json"
    bp.write(bp.generate(name), file)
    reply = server.address.ask("POST", "/v1/snapshots", file.read_bytes())
    assert reply.status == 201, reply.content


def _measured(browser: Any, url: str) -> list[dict[str, str]]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    ready = time.perf_counter() - began
    rows = []
    for action in ACTIONS:
        frames, draw, slow = page.evaluate(MEASURE, [action, SECONDS])
        figures = {"frames_a_second": f"{frames:.1f}", "draw_ms": f"{draw:.1f}", "draw_p95_ms": f"{slow:.1f}"}
        rows.append({"action": action, **figures, "ready_s": f"{ready:.2f}"})
    page.close()
    return rows


if __name__ == "__main__":
    main()
