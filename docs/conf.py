"""Sphinx: the pages of this folder and the docstrings of the public library as one site (`make docs`)."""

import re

from sphinx.application import Sphinx

import bayplan

project = "bayplan"
author = "the bayplan authors"
copyright = "the bayplan authors, Apache-2.0"  # noqa: A001 (Sphinx wants this name)
release = version = bayplan.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "bayplan"
html_show_copyright = False
html_show_sourcelink = False

myst_heading_anchors = 3  # links such as formats.md#timed-requests
myst_enable_extensions = ["deflist"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"


def as_written(_app: object, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Docstrings are written as people write: `x` is code, and | is a letter. reStructuredText wants ``x`` and \\|."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line).replace("|", r"\|")


def setup(app: Sphinx) -> None:
    """What Sphinx calls first."""
    app.connect("autodoc-process-docstring", as_written)
