"""Pages in a real browser: Debian's Chromium, driven by Playwright. Nothing is downloaded.

Tests skip where there is no browser; with BAYPLAN_BROWSER=required, as in CI, they fail.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
Opened = Any  # a page of Playwright, which may be missing


def _missing(what: str) -> None:
    words = f"no {what}: install chromium, and playwright with the extra [browser]; BAYPLAN_CHROMIUM names the executable"
    if os.environ.get("BAYPLAN_BROWSER") == "required":
        pytest.fail(words, pytrace=False)
    pytest.skip(words)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    executable = os.environ.get("BAYPLAN_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        _missing("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Opens HTML from a file. At the end: nothing was written to the console as an error, nothing was fetched."""
    contexts, faults, fetched = [], [], []

    def opened(html: str, *, width: int = 1280, height: int = 900, ready: str = "html[data-ready]", **context: Any) -> Opened:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        made = browser.new_context(viewport={"width": width, "height": height}, **context)
        contexts.append(made)
        page = made.new_page()
        page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: None if request.url == file.as_uri() else fetched.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector(ready, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
    assert fetched == []


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Opens an address. At the end: no error in the console, and nothing was asked of another host."""
    contexts, faults, elsewhere = [], [], []

    def opened(address: str, *, width: int = 1280, height: int = 900, ready: str = "html[data-ready]", **context: Any) -> Opened:
        made = browser.new_context(viewport={"width": width, "height": height}, **context)
        contexts.append(made)
        page = made.new_page()
        site = "/".join(address.split("/")[:3])
        page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(site) else elsewhere.append(request.url))
        page.goto(address)
        page.wait_for_selector(ready, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
    assert elsewhere == []
