"""One HTML page about failures, for those who plan capacity."""

from collections.abc import Mapping, Sequence

from bayplan.model import MACHINE
from bayplan.report.amounts import percent, scale_of
from bayplan.report.answers.capacity_tables import (
    CapacityView,
    Reasons,
    failure_table,
    level_needs,
    level_sentences,
    level_table,
    names_down,
    reason_lines,
)
from bayplan.report.markup import Tile, card, html_table, items, paragraph, tag, tiles
from bayplan.report.names import name_of
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.failures import failure_picture
from bayplan.words import count

ABOUT = (
    "A failure is survived if everything that ran there has a place elsewhere within all rules. What is pinned to a failed "
    "machine is lost with it. Machines that would help are tried: that many are enough. What is proven is said as proven; where "
    "no place was found and nothing is proven, there may be one."
)


def capacity_page(view: CapacityView, reasons: Reasons, *, notes: Sequence[str], made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    name = name_of(view.cluster)
    resources = [resource.name for resource in view.cluster.resources]
    picture = failure_picture(view.outcomes, view.cluster.machines.name, resources, title=f"{name}: what may fail?")
    lines = [line for outcome, why in reasons for line in reason_lines(outcome, why)]
    body = [
        header(name, _verdict(view), bool(view.holds), scale_of(view.cluster)),
        card("", items(level_sentences(view))),
        _tiles(view),
        figure(picture),
        tag("h2", "Levels"),
        card("", paragraph(ABOUT, "soft"), html_table(level_table(view))),
        tag("h2", "Failures, worst first"),
        card("", html_table(failure_table(view))),
        tag("h2", "What has no place, and why") if lines else "",
        card("", items(lines)) if lines else "",
        footer(made, notes),
    ]
    return page(name, body)


def _verdict(view: CapacityView) -> str:
    """'any single machine may fail', '1 of 12 machines may not fail'."""
    mine = view.of_level(view.survive)
    bad = sum(not outcome.holds for outcome in mine)
    if bad:
        return f"{bad:,} of {count(len(mine), view.survive)} may not fail"
    if not view.holds:
        return "not all failures were looked at"
    return "any single machine may fail" if view.survive == MACHINE else f"any {view.survive} may fail"


def _tiles(view: CapacityView) -> str:
    """The worst of the level that was asked for."""
    mine = view.of_level(view.survive)
    if not mine:
        return ""
    worst = mine[0]
    bad = sum(not outcome.holds for outcome in mine)
    needs = level_needs(view, view.survive)
    more = "?" if needs is None else f"{sum(enough for _, enough, _ in needs):,}"
    likes = " and ".join(f"like {like}" for like, _, _ in needs or ()) or "nothing is missing"
    down = max(mine, key=lambda outcome: len(outcome.loss.down))
    return tiles(
        [
            Tile("do not hold", f"{bad:,}", f"of {len(mine):,} failures of a {view.survive}"),
            Tile("worst", worst.failure.group, f"{count(len(worst.replacement.left_out), 'container')} left out"),
            Tile("more machines", more, "no number was found" if needs is None else likes),
            Tile("fullest after", percent(max(o.replacement.fullness for o in mine)), "of the machines that take some"),
            Tile("workloads down", f"{len(down.loss.down):,}", names_down(view, down) or "each has a replica elsewhere"),
        ]
    )
