"""Time from left to right in whatever unit the input has: round numbers below a picture."""

from bayplan.model import FloatArray
from bayplan.report.svg import line, text, width_of


def moment_marks(edge: FloatArray, left: float, right: float, bottom: float) -> str:
    """Round moments from the first to the last edge, and the word 'time'."""
    first, last = float(edge[0]), float(edge[-1])
    span = (last - first) or 1.0
    step = _step(span, right - left, max(_words(first), _words(last), key=len))
    parts = [line(left, bottom, right, bottom, "floor")]
    k = -(-first // step)  # the first round number that is not before
    while k * step <= last + 1e-9 * span:
        x = left + (right - left) * (k * step - first) / span
        parts += [line(x, bottom, x, bottom + 5, "floor"), text(x, bottom + 18, _words(k * step), "soft small mid")]
        k += 1
    return "".join([*parts, text(right, bottom + 32, "time", "soft small end")])


def _words(moment: float) -> str:
    return f"{moment:,.0f}" if float(moment).is_integer() else f"{moment:,.6g}"


def _step(span: float, room: float, longest: str) -> float:
    """The smallest round step whose words do not touch."""
    least = (width_of(longest, 11) + 24) * span / room
    steps = (digit * 10.0**power for power in range(-6, 18) for digit in (1, 2, 5))
    return next((step for step in steps if step >= least), span)
