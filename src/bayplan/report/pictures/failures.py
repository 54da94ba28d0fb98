"""All failures in one picture: a square per machine, and bars for racks and zones, coloured by whether the cluster survives."""

from collections.abc import Sequence

from bayplan.model import MACHINE
from bayplan.model.failures import FailureOutcome, FailureVerdict
from bayplan.report.amounts import percent
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.svg import document, line, rect, shortened, text, width_of
from bayplan.words import count

WIDTH, RIGHT = 960.0, 24.0
CAPTION = (
    "Each square is a machine, each bar a rack or zone: what happens if it fails? Bars: what has to be placed elsewhere, of the "
    "scarcest resource, as a share of the capacity that is left; the frame is what is free there."
)
KIND = {  # verdict -> class, words
    FailureVerdict.HOLDS: ("s5", "everything fits elsewhere"),
    FailureVerdict.ABOVE_SAFETY: ("h10", "fits, above safety"),
    FailureVerdict.WITH_MOVES: ("s3", "fits, if others move"),
    FailureVerdict.NOT_FOUND: ("s8", "no place found"),
    FailureVerdict.IMPOSSIBLE: ("h11", "no place, proven"),
}
SIDES = (26.0, 18.0, 12.0, 8.0, 6.0, 4.0, 2.0)  # of squares: the largest with which all of them fit
TALLEST = 380.0  # of all squares together
MOST_BARS = 24  # of one level, the worst
NAMES, BAR, REMARKS = 110.0, 18.0, 270.0  # width of the names left of bars, height of a bar with its gap, words right of it
LABELLED, CELL = 60, (68.0, 24.0)  # up to that many machines have their names in the picture, in cells of this size


def failure_picture(outcomes: Sequence[FailureOutcome], machines: Sequence[str], resources: Sequence[str], *, title: str) -> str:
    """The picture. Machines are in the order of the cluster; other levels by name, their groups with the worst first."""
    head, top = caption(title, CAPTION, WIDTH)
    legend, top = _legend(outcomes, top + 8)
    parts = [head, legend]
    single = {int(o.failure.machines[0]): o for o in outcomes if o.failure.level == MACHINE}
    if single:
        squares, top = _squares([single[m] for m in sorted(single)], machines, top + 26)
        parts.append(squares)
    for level in sorted({o.failure.level for o in outcomes if o.failure.level != MACHINE}):
        bars, top = _bars([o for o in outcomes if o.failure.level == level], resources, top + 30)
        parts.append(bars)
    words = f"{count(sum(o.holds for o in outcomes), 'failure')} of {len(outcomes):,} are survived"
    return document(WIDTH, top + 16, title, words, "".join(parts))


def _legend(outcomes: Sequence[FailureOutcome], top: float) -> tuple[str, float]:
    """The colours that occur."""
    present = {o.verdict for o in outcomes}
    parts, x = [], LEFT
    for verdict, (class_, words) in KIND.items():
        if verdict in present:
            parts += [rect(x, top, 11, 11, class_), text(x + 17, top + 10, words, "soft small")]
            x += 17 + width_of(words, 11) + 20
    return "".join(parts), top + 12


def _squares(outcomes: Sequence[FailureOutcome], machines: Sequence[str], top: float) -> tuple[str, float]:
    """One square per machine, row by row; small ones where there are many."""
    wide = WIDTH - LEFT - RIGHT
    labelled = len(outcomes) <= LABELLED
    side = next((side for side in SIDES if len(outcomes) * side * side <= wide * TALLEST), SIDES[-1])
    across_by, down_by = CELL if labelled else (side, side)
    across = int(wide // across_by)
    gap = 2.0 if down_by >= 12 else 1.0 if down_by >= 6 else 0.5
    bad = sum(not o.holds for o in outcomes)
    parts = [text(LEFT, top, f"any single machine: {len(outcomes) - bad:,} of {len(outcomes):,} may fail", "strong")]
    for number, outcome in enumerate(outcomes):
        x, y = LEFT + across_by * (number % across), top + 10 + down_by * (number // across)
        parts.append(rect(x, y, across_by - gap, down_by - gap, KIND[outcome.verdict][0], _tooltip(outcome, machines)))
        if labelled:
            name = shortened(outcome.failure.group, across_by - 6, 11)
            parts.append(text(x + (across_by - gap) / 2, y + 15, name, "small mid t10"))
    return "".join(parts), top + 10 + down_by * (1 + (len(outcomes) - 1) // across)


def _tooltip(outcome: FailureOutcome, machines: Sequence[str]) -> str:
    then = outcome.replacement
    lines = [f"{outcome.failure.name} fails: {KIND[outcome.verdict][1]}", count(outcome.loss.containers, "container")]
    if len(then.left_out):
        lines.append(f"{len(then.left_out):,} left out")
    if then.fullest >= 0:
        lines.append(f"leaves {machines[then.fullest]} at {percent(then.fullness)}")
    return "\n".join(lines)


def _bars(outcomes: Sequence[FailureOutcome], resources: Sequence[str], top: float) -> tuple[str, float]:
    """A bar per group: what has to be placed elsewhere, in a frame of what is free there."""
    bad, level = sum(not o.holds for o in outcomes), outcomes[0].failure.level
    parts = [text(LEFT, top, f"any {level}: {len(outcomes) - bad:,} of {len(outcomes):,} may fail", "strong")]
    shown = outcomes[:MOST_BARS]
    most = max(0.01, *(max(o.demand.needed, o.demand.free) for o in shown))
    begin, wide = LEFT + NAMES, WIDTH - LEFT - RIGHT - NAMES - REMARKS
    y = top + 10
    for outcome in shown:
        demand, class_ = outcome.demand, KIND[outcome.verdict][0]
        free, needed = wide * demand.free / most, wide * demand.needed / most
        resource = resources[demand.resource] if resources else "nothing"
        words = f"needs {percent(demand.needed)}, {percent(demand.free)} of {resource} free"
        left_out = len(outcome.replacement.left_out)
        parts += [
            text(begin - 8, y + 12, shortened(outcome.failure.group, NAMES - 12), "small end"),
            rect(begin, y + 2, free, BAR - 5, "bay"),
            rect(begin, y + 4, needed, BAR - 9, class_, f"{outcome.failure.name}: {words}"),
            line(begin + free, y + 1, begin + free, y + BAR - 2, "capacity"),
            text(begin + max(free, needed) + 8, y + 12, f"{words}; {left_out:,} left out" if left_out else words, "soft small"),
        ]
        y += BAR
    if len(outcomes) > len(shown):
        parts.append(text(LEFT, y + 12, f"and {len(outcomes) - len(shown):,} more", "soft small"))
        y += BAR
    return "".join(parts), y
