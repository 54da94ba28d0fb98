"""SVG as strings: elements, escaped text, and one document around a picture's body."""

import html
from importlib.resources import files

from bayplan.report.names import elided, printable

_SHORT = 0.6  # mean width of a character of the system fonts, in font sizes

_LINES = "\n"  # a tooltip may have several
STYLE = f"<style>{files('bayplan.report').joinpath('picture.css').read_text(encoding='utf-8').strip()}</style>"


def escaped(text: object, keep: str = "") -> str:
    """`text` made harmless inside of an element or a quoted attribute: XML 1.0 has no way to write most control characters."""
    return html.escape(printable(text, keep), quote=True)


def number(value: float) -> str:
    """A coordinate with at most two decimals and nothing superfluous: 12, 0.5, -3.25."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def element(tag: str, *children: str, **attributes: object) -> str:
    """One element. Children are markup already; attribute values are escaped; `class_` is class."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{number(value) if isinstance(value, float) else escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def rect(x: float, y: float, width: float, height: float, class_: str = "", title: str = "") -> str:
    """One rectangle with an optional tooltip; written without detours because pictures have thousands."""
    kind = f' class="{class_}"' if class_ else ""
    head = f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{kind}'
    return f"{head}><title>{escaped(title, keep=_LINES)}</title></rect>" if title else f"{head}/>"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """One straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def text(x: float, y: float, content: object, class_: str = "", **attributes: object) -> str:
    """One line of text; `content` is escaped."""
    return element("text", escaped(content) or " ", x=float(x), y=float(y), class_=class_ or None, **attributes)


def width_of(content: str, size: float = 12) -> float:
    """About how many pixels a line of text takes."""
    return len(content) * size * _SHORT


def shortened(content: str, width: float, size: float = 12) -> str:
    """`content`, or its two ends and an ellipsis between them, within about `width` pixels."""
    return elided(content, characters_in(width, size))


def characters_in(width: float, size: float = 12) -> int:
    """About how many characters fit into `width` pixels."""
    return max(1, int(width / (size * _SHORT)))


def wrapped(content: str, width: float, size: float = 12) -> list[str]:
    """`content` broken between words into lines of about `width` pixels."""
    lines: list[str] = []
    for word in content.split(" ") if content else ():
        if lines and width_of(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def document(width: float, height: float, title: str, description: str, body: str, *, role: str = "img") -> str:
    """A whole picture that needs nothing else: its style, its title and description for screen readers, its body.

    `role` is "group" if the picture has parts that can be focused.
    """
    return element(
        "svg",
        element("title", escaped(title)),
        element("desc", escaped(description)),
        STYLE,
        rect(0, 0, width, height, "ground"),
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=number(width),
        height=number(height),
        class_="bayplan",
        role=role,
        aria_label=title,
    )


def without_style(picture: str) -> str:
    """The picture for a page that has `STYLE` already."""
    return picture.replace(STYLE, "", 1)
