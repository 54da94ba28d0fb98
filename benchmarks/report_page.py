"""Measure the page about a change at three sizes: how large it is, how long it takes to make, to show and to draw.

Chromium opens each page five times from a file, in a fresh context; the medians count. `first_paint_ms` is when the browser
shows something, `ready_ms` when both bay plans, the table and the timeline are drawn. Rows are appended to
`benchmarks/report_page.csv`. Needs chromium (or BAYPLAN_CHROMIUM) and the extra [browser].

    python -m benchmarks.report_page
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.results import append, commit, machine
from tests.builders.change_pages import change_of, with_notes
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.report.change_page import ChangePageData, change_page

RESULTS = Path(__file__).parent / "report_page.csv"
COLUMNS = ("commit", "machine", "machines", "containers", "moves", "bytes", "seconds", "first_paint_ms", "ready_ms")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
TIMES = 5
CHANGES: Mapping[str, Callable[[], ChangePageData]] = {
    "10 machines": lambda: change_of(cluster_of(machines=10, services=8, replicas=6), 9, per_batch=3),
    "100 machines": lambda: change_of(cluster_of(machines=100, services=60, replicas=25), 180, per_batch=30),
    "rasa-m2": lambda: change_of(bp.generate("rasa-m2"), 8000, per_batch=400),
}


def main() -> None:
    """Measure every size, and append the rows."""
    from playwright.sync_api import sync_playwright

    executable = os.environ.get("BAYPLAN_CHROMIUM") or shutil.which("chromium")
    if executable is None:
        sys.exit("no chromium: install it, or name the executable with BAYPLAN_CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        for name, change in CHANGES.items():
            row = _measured(browser, Path(folder) / "page.html", with_notes(change()))
            append(RESULTS, COLUMNS, [row])
            print(f"{name}: {row['bytes']} bytes in {row['seconds']} s; {row['first_paint_ms']} ms, {row['ready_ms']} ms")
        browser.close()


def _measured(browser: Any, file: Path, data: ChangePageData) -> dict[str, str]:
    started = time.perf_counter()
    page = change_page(data)
    seconds = time.perf_counter() - started
    file.write_text(page, encoding="utf-8")
    times = [_times(browser, file) for _ in range(TIMES)]
    cluster = data.snapshot.cluster
    return {
        "commit": commit(),
        "machine": machine(),
        "machines": str(len(cluster.machines.name)),
        "containers": str(len(cluster.containers.name)),
        "moves": str(len(data.moves)),
        "bytes": str(len(page.encode())),
        "seconds": f"{seconds:.2f}",
        "first_paint_ms": f"{statistics.median(paint for paint, _ in times):.0f}",
        "ready_ms": f"{statistics.median(ready for _, ready in times):.0f}",
    }


def _times(browser: Any, file: Path) -> tuple[float, float]:
    """Milliseconds from the start of the navigation until something is shown, and until everything is drawn."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_timeout(200)  # until the paint is reported
    names = ["first-contentful-paint", "ready"]
    paint, ready = page.evaluate("names => names.map(name => performance.getEntriesByName(name)[0].startTime)", names)
    context.close()
    return float(paint), float(ready)


if __name__ == "__main__":
    main()
