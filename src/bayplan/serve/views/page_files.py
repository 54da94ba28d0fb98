"""The files of the page: read once, with a tag by which a browser knows that it has them already.

The modules `report.js` and `report.css` are what the report's own pages are made of, put together here: a plan, a week and a
packing look and behave on the page of the service as they do in a file. `goals.js` has the goals of a plan.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from bayplan.model.goal import GOALS
from bayplan.report.change_page.page import FOLDER, SCRIPTS, STYLES
from bayplan.report.page import asset

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",  # widths and colours of pictures that the server drew
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}  # fmt: skip
EXPORTS = (  # what the modules of the page use of the report's scripts
    "ChangePage", "Cluster", "Pictures", "Running", "Tooltip", "amount", "counted", "decode", "enliven", "fitted", "made",
    "percent", "points", "span", "svgElement",
)  # fmt: skip
START = "start.js"  # begins the page of a file: here a module does that


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """One file of the page."""

    content: bytes
    media_type: str
    tag: str  # changes with the content


def page_files() -> Mapping[str, PageFile]:
    """Every file by its name below /page/; `index.html` is the page at /."""
    texts = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in files("bayplan.serve").joinpath("page").iterdir()
        if entry.name.endswith(tuple(TYPES))
    }
    texts["report.js"] = _script()
    texts["report.css"] = _style()
    texts["goals.js"] = f"export const GOALS = {json.dumps([{'name': g.name, 'about': g.about} for g in GOALS.values()])};"
    return {name: _file(name, text) for name, text in texts.items()}


def _script() -> str:
    scripts = (asset(f"{FOLDER}/{name}") for name in SCRIPTS if name != START)
    return "\n".join([asset("page.js"), *scripts, f"export {{ {', '.join(EXPORTS)} }};"])


def _style() -> str:
    own = ("page.css", "picture.css", *(f"{FOLDER}/{name}" for name in STYLES), "history/history.css")
    return "\n".join(asset(name) for name in own)


def _file(name: str, text: str) -> PageFile:
    content = text.encode()
    suffix = name[name.rindex(".") :]
    return PageFile(content=content, media_type=TYPES[suffix], tag=f'"{hashlib.sha256(content).hexdigest()[:20]}"')
