"""Make `docs/pictures/serve-*.png`: the page of the service on the demo, in Chromium. Run by hand, since it needs one.

python -m docs.service_screenshots
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.builders.served import ServerProcess

PICTURES = Path(__file__).parent / "pictures"
LONG = 120_000  # milliseconds


class Shot(NamedTuple):
    """One picture: the panel, how it is brought into a state worth looking at, and how it is shown."""

    panel: str
    prepare: Callable[[Any], None]
    height: int = 860
    width: int = 1280
    scheme: str = "light"


def _plan(page: Any) -> None:
    """On what the loop sees, so that it can be approved."""
    page.select_option("#snapshot", label="what the loop sees now")
    page.wait_for_selector("#snapshot option:checked:text('seen')", state="attached", timeout=LONG)
    page.fill("#plan-most", "30%")
    page.click("#plan-start")
    page.wait_for_selector("#front:enabled", timeout=LONG)


def _run(page: Any) -> None:
    page.wait_for_selector("#run-approve:visible", timeout=LONG)
    page.wait_for_timeout(2500)  # so that the cluster is drawn


def _sweep(page: Any) -> None:
    page.select_option("#capacity-question", "sweep")
    page.click("#capacity-start")
    page.wait_for_selector("#capacity-result svg", timeout=LONG)


def _nothing(page: Any) -> None:
    page.wait_for_timeout(3000)


def _cluster(page: Any) -> None:
    page.select_option("#snapshot", label="rasa-m3 (96 machines)")
    page.wait_for_selector("#overview-title:text-is('rasa-m3')", timeout=LONG)
    page.wait_for_timeout(1000)


SHOTS = {
    "serve-overview": Shot("overview", _nothing),
    "serve-plan": Shot("plan", _plan, height=1000),
    "serve-run": Shot("run", _run, height=1000),
    "serve-admission": Shot("admission", _nothing, scheme="dark"),
    "serve-capacity": Shot("capacity", _sweep, height=760, scheme="dark"),
    "serve-narrow": Shot("overview", _cluster, height=860, width=400),
}


def main() -> None:
    """Open every panel of a demo, and take the pictures."""
    from playwright.sync_api import sync_playwright

    with ServerProcess("--demo") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox"])
        for name, shot in SHOTS.items():
            context = browser.new_context(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme)
            page = context.new_page()
            page.goto(f"{server.address.url}/#{shot.panel}")
            page.wait_for_selector("html[data-ready]", state="attached")
            shot.prepare(page)
            page.wait_for_timeout(500)
            page.screenshot(path=PICTURES / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
