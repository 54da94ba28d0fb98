"""Make `docs/pictures/change-page.png`: the page about a change of the demo shop, in Chromium. Run by hand, since it needs one.

python -m docs.screenshot
"""

import shutil
import tempfile
from pathlib import Path

import bayplan as bp

PICTURE = Path(__file__).parent / "pictures" / "change-page.png"


def main() -> None:
    """Open the report of a migration, select a move, stop in the first batch, and take the picture."""
    from playwright.sync_api import sync_playwright

    shop, budget = bp.generate("boutique"), bp.Budget(iterations=50_000)
    better = bp.rebalance(shop, weights={"overload": 100}, max_moves="20%", budget=budget)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        bp.migrate(shop, better.placement, budget=bp.Budget(iterations=4)).report(file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.focus("#rows")
        page.keyboard.press("ArrowDown")
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        clip = page.locator("#moves").bounding_box()
        assert clip is not None
        frame = {"x": 0, "y": 0, "width": 1280, "height": clip["y"] + clip["height"] + 12}
        page.screenshot(path=PICTURE, full_page=True, clip=frame)
        browser.close()


if __name__ == "__main__":
    main()
