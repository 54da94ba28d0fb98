"""The shell of every report page: style, script, header, figures, footer; nothing is fetched, everything is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from bayplan.report import svg
from bayplan.report.markup import items, tag
from bayplan.version import __version__

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # the browser enforces "no network"


def page(title: str, body: Iterable[str], *, style: str = "", script: str = "") -> str:
    """A whole document. `style` and `script` are those that this kind of page has beside the shell's own."""
    head = tag(
        "head",
        svg.element("meta", charset="utf-8"),
        svg.element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        svg.element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", svg.escaped(f"{title} – bayplan")),
        tag("style", asset("page.css") + style),
        svg.STYLE,
    )
    scripts = [tag("script", asset("page.js")), tag("script", _both_languages(script), type="module") if script else ""]
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', *body), *scripts), lang='en')}\n"


def header(title: str, verdict: str, good: bool, lead: str) -> str:
    """The title, a verdict beside it, and a sentence below."""
    badge = tag("span", svg.escaped(verdict), class_="verdict good" if good else "verdict bad")
    return tag("header", tag("h1", svg.escaped(title)), badge, tag("p", svg.escaped(lead), class_="lead"))


def figure(picture: str) -> str:
    """A picture on its card."""
    return tag("figure", svg.without_style(picture))


def how_made(command: str = "", **more: object) -> dict[str, str]:
    """What every footer says of its page: the command, the version, and whatever else decided it, such as the seed."""
    known = {"command": command, "version": f"bayplan {__version__}", **more}
    return {name: str(value) for name, value in known.items() if value is not None and value != ""}


def footer(made: Mapping[str, str], notes: Sequence[str]) -> str:
    """How the page was made, and what was decided when its input was read."""
    facts = "".join(tag("dt", svg.escaped(name)) + tag("dd", tag("code", svg.escaped(value))) for name, value in made.items())
    listed = items(notes) if notes else ""
    return tag("footer", tag("h3", "How this was made"), tag("dl", facts) if facts else "", listed) if facts or listed else ""


def asset(name: str) -> str:
    """The text of a style sheet or a script of this package."""
    return files("bayplan.report").joinpath(name).read_text(encoding="utf-8").strip()


def _both_languages(script: str) -> str:
    """A script that HTML and XML readers both leave alone."""
    return f"//<![CDATA[\n{script}\n//]]>"
