"""The parts of a report page: numbers, what is wrong, tables."""

import math
from collections.abc import Mapping, Sequence

from bayplan.model import Cluster, Placement, Resource
from bayplan.report.amounts import count, fullness, human_amount, of_capacity, percent, score
from bayplan.report.broken import SHOWN, rest
from bayplan.report.loads import machine_use
from bayplan.report.markup import Cell, card, items, paragraph, table, tag, tiles
from bayplan.report.meanings import higher_is_better, meaning_of
from bayplan.report.pictures.affinity import heaviest_edges
from bayplan.report.pictures.traffic import chatty_pairs
from bayplan.score.summary import HotMachine, ResourceUse, Summary

ROUNDING = 1e-12  # a smaller change is none
FEW = 10  # names in a list
HEAVIEST = 30  # pairs in a table


def numbers(summary: Summary) -> str:
    """The state in big numbers."""
    counts = summary.counts
    facts: list[tuple[str, ...]] = [
        ("machines in use", f"{counts['machines_used']:,}", f"of {counts['machines']:,}"),
        (
            "containers",
            f"{counts['containers']:,}",
            f"{count(counts['services'], 'service')}, {count(counts['workloads'], 'workload')}",
        ),
        ("without a machine", f"{counts['unplaced']:,}", "container" if counts["unplaced"] == 1 else "containers"),
    ]
    facts += [
        (f"{use.resource} in use", percent(_share(use.load, use.capacity)), _fullest(use), "worse" if use.over_capacity else "")
        for use in summary.use[:4]
    ]
    if "affinity" in summary.score:
        facts.append(("gained affinity", percent(summary.score["affinity"]), "of the traffic can stay on one machine"))
    return tiles(facts)


def wrong(summary: Summary, violations: Sequence[object], cluster: Cluster, placement: Placement) -> str:
    """What is wrong: broken rules, machines that are too full, containers that wait, pairs that talk across machines."""
    hot = [machine for machine in summary.hot if machine.over_safety]
    use = machine_use(cluster, placement)
    full, total = int(use.full.sum()), int(use.hot.sum())
    parts = [
        card(f"{count(len(violations), 'broken rule')}", _broken(violations)) if violations else "",
        card(_heading(full, total), _hot(hot, total, cluster.resources)) if total else "",
        card(f"{count(len(placement.unplaced), 'container')} without a machine", _waiting(cluster, placement))
        if len(placement.unplaced)
        else "",
        _chatty(cluster, placement),
    ]
    if not any(parts):
        return card(
            "", paragraph("Nothing: every rule is kept, no machine is above its safety capacity, every container has one.")
        )
    return tag("div", *parts, class_="two")


def _broken(violations: Sequence[object]) -> str:
    more = rest(violations)
    return items(map(str, violations[:SHOWN])) + (paragraph(more, "soft") if more else "")


def _fullest(use: ResourceUse) -> str:
    if use.over_capacity:
        return f"{count(use.over_capacity, 'machine')} over capacity" + (
            f", up to {percent(use.maximum)}" if use.maximum < math.inf else ""
        )
    return f"fullest machine {percent(use.maximum)}"


def _heading(full: int, total: int) -> str:
    if full == total:
        return f"{count(full, 'machine')} over capacity"
    return f"{count(total, 'machine')} above safety capacity" + (f", {full:,} of them over capacity" if full else "")


def _hot(hot: Sequence[HotMachine], total: int, resources: Sequence[Resource]) -> str:
    lines = [f"{m.machine}: {_use_words(m, resources)}, {count(m.containers, 'container')}" for m in hot]
    return items([*lines, *([f"and {total - len(hot):,} more"] if total > len(hot) else [])])


def _use_words(hot: HotMachine, resources: Sequence[Resource]) -> str:
    if hot.utilisation == math.inf:
        return f"over capacity ({_amounts(hot, resources)})"
    return f"{percent(hot.utilisation)} of its {hot.resource}"


def _amounts(hot: HotMachine, resources: Sequence[Resource]) -> str:
    by_name = {resource.name: resource for resource in resources}
    return of_capacity(hot.load, hot.capacity, by_name.get(hot.resource, Resource(name=hot.resource)))


def _waiting(cluster: Cluster, placement: Placement) -> str:
    names = [cluster.containers.name[c] for c in placement.unplaced[:FEW].tolist()]
    others = len(placement.unplaced) - len(names)
    return items([*names, *([f"and {others:,} more"] if others else [])])


def _chatty(cluster: Cluster, placement: Placement) -> str:
    pairs = chatty_pairs(cluster, placement, top=5)
    if not pairs:
        return ""
    return card("Pairs that talk most across machines", items(f"{pair.a} – {pair.b}: {pair.words}" for pair in pairs))


def use_table(summary: Summary, resources: Sequence[Resource]) -> str:
    """How much of each resource is used, over the machines that have it."""
    by_name = {resource.name: resource for resource in resources}
    heads = ("resource", "load", "capacity", "mean", "median", "95th percentile", "highest", "top 1 %", "top 5 %", "top 10 %")
    rows = []
    for use in summary.use:
        resource = by_name.get(use.resource, Resource(name=use.resource))
        shares = (use.mean, use.p50, use.p95, use.maximum, use.top1, use.top5, use.top10)
        amounts = (Cell(human_amount(amount, resource), amount) for amount in (use.load, use.capacity))
        rows.append([Cell(use.resource), *amounts, *(_share_cell(share, use) for share in shares)])
    return table(heads, rows)


def _share_cell(share: float, use: ResourceUse) -> Cell:
    over = use.over_capacity > 0 and share == use.maximum
    return Cell(fullness(share), share, class_="worse" if over else "")


def hot_table(summary: Summary, resources: Sequence[Resource] = ()) -> str:
    """The fullest machines."""
    rows = [
        [
            Cell(m.machine),
            Cell(m.resource),
            Cell(percent(m.utilisation), m.utilisation),
            Cell(f"{m.containers:,}", m.containers),
            _state(m, resources),
        ]
        for m in summary.hot
    ]
    return table(("machine", "fullest resource", "use", "containers", "state"), rows)


def _state(machine: HotMachine, resources: Sequence[Resource]) -> Cell:
    if machine.over_capacity:
        return Cell(
            f"over capacity ({_amounts(machine, resources)})" if machine.capacity == 0 else "over capacity", class_="worse"
        )
    return Cell("over safety", class_="warn") if machine.over_safety else Cell("")


def score_table(summary: Summary) -> str:
    """The scores and what they mean."""
    rows = []
    for name, value in summary.score.items():
        rank = summary.normalised.get(name)
        beyond = rank is not None and math.isnan(rank)
        shown = Cell("" if rank is None else "–" if beyond else f"{rank:.3f}", math.nan if rank is None else rank)
        rows.append([Cell(name), Cell(score(value), value), shown, Cell(meaning_of(name))])
    return table(("score", "value", "0 best, 1 worst", "what it means"), rows)


def change_table(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """The scores before and after, and whether that is better."""
    rows = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name, float("nan")), after.get(name, float("nan"))
        difference = 0.0 if abs(new - old) <= ROUNDING * max(1.0, abs(old)) else new - old
        better = difference > 0 if higher_is_better(name) else difference < 0
        class_ = "" if not difference or difference != difference else "better" if better else "worse"
        sign = "+" if difference > 0 else ""
        change = Cell(f"{sign}{score(difference)}", difference, class_)
        rows.append([Cell(name), Cell(score(old), old), Cell(score(new), new), change, Cell(meaning_of(name))])
    return table(("score", "before", "after", "change", "what it means"), rows)


def edge_table(cluster: Cluster, before: Placement, after: Placement) -> str:
    """The heaviest pairs: their traffic, and the part of it that stays on one machine."""
    rows = []
    for edge in heaviest_edges(cluster, before, after, HEAVIEST):
        change = edge.after - edge.before
        class_ = "" if abs(change) <= ROUNDING else "better" if change > 0 else "worse"
        points = Cell(f"{100 * change:+.1f}" if class_ else "0", change, class_)
        shares = (Cell(percent(share), share) for share in (edge.traffic, edge.before, edge.after))
        rows.append([Cell(edge.a), Cell(edge.b), *shares, points])
    return table(("workload", "talks to", "share of traffic", "local before", "local after", "change in points"), rows)


def _share(load: int, capacity: int) -> float:
    return load / capacity if capacity else float("nan")
