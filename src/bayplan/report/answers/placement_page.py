"""One self-contained HTML page about a placement, or about the change from one to another."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bayplan.model import Cluster, Placement, Resource, Snapshot
from bayplan.report.amounts import fullness, percent, scale_of
from bayplan.report.answers.placement_tables import amounts_words, change_table, hot_table, pair_table, score_table, use_table
from bayplan.report.change_page import Card, ChangePageData, PageSection, change_page, change_words, number_card
from bayplan.report.loads import machine_use
from bayplan.report.markup import Tile, card, first_items, html_table, items, paragraph, tag, tiles
from bayplan.report.names import name_of
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures import bay_plan, heat_map, traffic_bars, utilisation_cdf
from bayplan.report.pictures.placement.traffic import chatty_pairs
from bayplan.report.table import Table
from bayplan.report.violations import SHOWN, verdict
from bayplan.score.summary import HotMachine, ResourceUse, Summary
from bayplan.words import and_more, count

FEW = 10  # names in a list
MOST_TILES = 4  # resources among the big numbers


def report_page(
    snapshot: Snapshot,
    summary: Summary,
    violations: Iterable[object],
    *,
    title: str = "",
    made: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about one placement. `made` says how it came about: {"command": ..., "version": ..., "seed": ...}."""
    cluster, placement, violated = snapshot.cluster, snapshot.placement, list(violations)
    body = [
        header(title or name_of(cluster), verdict(violated), not violated, scale_of(cluster)),
        _numbers(summary),
        tag("h2", "What is wrong"),
        _wrong(summary, violated, cluster, placement),
        tag("h2", "Where everything runs"),
        figure(bay_plan(cluster, placement, group_by=group_by)),
        figure(utilisation_cdf(cluster, placement)),
        figure(heat_map(cluster, placement)),
        figure(traffic_bars(cluster, placement)) if len(cluster.traffic.a) else "",
        tag("h2", "In numbers"),
        _tables(summary, cluster.resources),
        footer(made or {}, snapshot.notes),
    ]
    return page(title or name_of(cluster), body)


def comparison_page(
    before: Snapshot,
    after: Placement,
    summaries: tuple[Summary, Summary],
    *,
    violations: Iterable[object] = (),
    headline: str = "",
    made: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about a change: `summaries` are before and after, `violations` those of the placement after."""
    cluster, violated, (old, new) = before.cluster, list(violations), summaries
    pictures = (utilisation_cdf(cluster, after, before=before.placement), heat_map(cluster, after))
    data = ChangePageData(
        snapshot=before,
        after=after,
        headline=headline or change_words(before.placement, after),
        verdict=verdict(violated),
        valid=not violated,
        cards=_cards(cluster, (before.placement, after), summaries),
        sections=(
            *_pairs(cluster, before.placement, after),
            PageSection(title="How full the machines are", parts=tuple(map(figure, pictures))),
            PageSection(title="What is wrong afterwards", parts=(_wrong(new, violated, cluster, after),)),
        ),
        tables=(
            change_table(old.score, new.score),
            *([replace(score_table(new.score, new.normalised), title="Scores afterwards")] if new.normalised else []),
            use_table(new, cluster.resources),
            hot_table(new, cluster.resources),
        ),
        group_by=group_by,
        made=made or {},
    )
    return change_page(data)


def _cards(cluster: Cluster, placements: tuple[Placement, Placement], summaries: tuple[Summary, Summary]) -> tuple[Card, ...]:
    """The numbers that a person looks at first, before and after."""
    old, new = summaries
    hot = [int(machine_use(cluster, placement).hot.sum()) for placement in placements]
    cards = [
        number_card("machines above safety", *hot, words=_whole, note=f"of {new.counts['machines']:,}"),
        number_card("machines in use", old.counts["machines_used"], new.counts["machines_used"], words=_whole),
        number_card("without a machine", old.counts["unplaced"], new.counts["unplaced"], words=_whole, note="containers"),
    ]
    for was, use in list(zip(old.use, new.use, strict=True))[:MOST_TILES]:
        over = f"{count(use.over_capacity, 'machine')} over capacity" if use.over_capacity else ""
        cards.append(number_card(f"fullest machine, {use.resource}", was.maximum, use.maximum, words=fullness, note=over))
    if "affinity" in old.score and "affinity" in new.score:
        shares = (old.score["affinity"], new.score["affinity"])
        cards.append(number_card("local traffic", *shares, more_is_better=True, note="can stay on one machine"))
    return tuple(cards)


def _whole(number: float) -> str:
    return f"{number:,.0f}"


def _pairs(cluster: Cluster, before: Placement, after: Placement) -> tuple[PageSection, ...]:
    """The heaviest traffic in numbers; nothing without traffic."""
    if not len(cluster.traffic.a):
        return ()
    return (PageSection(title="The heaviest traffic", parts=(_card(replace(pair_table(cluster, before, after), title="")),)),)


def _tables(summary: Summary, resources: Sequence[Resource]) -> str:
    tables = (score_table(summary.score, summary.normalised), use_table(summary, resources), hot_table(summary, resources))
    return tag("div", *(_card(table) for table in tables if table.rows), class_="tables")


def _card(table: Table) -> str:
    return card(table.title, html_table(table))


def _numbers(summary: Summary) -> str:
    """The state in big numbers."""
    counts = summary.counts
    groups = f"{count(counts['services'], 'service')}, {count(counts['workloads'], 'workload')}"
    numbers = [
        Tile("machines in use", f"{counts['machines_used']:,}", f"of {counts['machines']:,}"),
        Tile("containers", f"{counts['containers']:,}", groups),
        Tile("without a machine", f"{counts['unplaced']:,}", "container" if counts["unplaced"] == 1 else "containers"),
    ]
    for use in summary.use[:MOST_TILES]:
        share = use.load / use.capacity if use.capacity else math.nan
        numbers.append(Tile(f"{use.resource} in use", percent(share), _fullest(use), "bad" if use.over_capacity else ""))
    if "affinity" in summary.score:
        numbers.append(Tile("gained affinity", percent(summary.score["affinity"]), "of the traffic can stay on one machine"))
    return tiles(numbers)


def _fullest(use: ResourceUse) -> str:
    if use.over_capacity:
        highest = f", up to {percent(use.maximum)}" if use.maximum < math.inf else ""
        return f"{count(use.over_capacity, 'machine')} over capacity{highest}"
    return f"fullest machine {percent(use.maximum)}"


def _wrong(summary: Summary, violations: Sequence[object], cluster: Cluster, placement: Placement) -> str:
    """What is wrong: violated rules, machines that are too full, unplaced containers, pairs that talk across machines."""
    use = machine_use(cluster, placement)
    full, hot, unplaced = int(use.full.sum()), int(use.hot.sum()), len(placement.unplaced)
    pairs = chatty_pairs(cluster, placement, top=5)
    parts = [
        card(count(len(violations), "rule violation"), first_items(violations, SHOWN)) if violations else "",
        card(_heading(full, hot), _hot(summary, hot, cluster.resources)) if hot else "",
        card(f"{count(unplaced, 'container')} without a machine", _unplaced(cluster, placement)) if unplaced else "",
        card("Pairs that talk most across machines", items(f"{p.a} – {p.b}: {p.words}" for p in pairs)) if pairs else "",
    ]
    if not any(parts):
        words = "Nothing: every rule is kept, no machine is above its safety capacity, every container has one."
        return card("", paragraph(words))
    return tag("div", *parts, class_="two")


def _heading(full: int, hot: int) -> str:
    if full == hot:
        return f"{count(full, 'machine')} over capacity"
    return f"{count(hot, 'machine')} above safety capacity" + (f", {full:,} of them over capacity" if full else "")


def _hot(summary: Summary, total: int, resources: Sequence[Resource]) -> str:
    hot = [machine for machine in summary.hot if machine.over_safety]
    lines = [f"{m.machine}: {_use_words(m, resources)}, {count(m.containers, 'container')}" for m in hot]
    return items(filter(None, [*lines, and_more(total - len(hot))]))


def _use_words(hot: HotMachine, resources: Sequence[Resource]) -> str:
    if hot.utilisation == math.inf:
        return f"over capacity ({amounts_words(hot, resources)})"
    return f"{percent(hot.utilisation)} of its {hot.resource}"


def _unplaced(cluster: Cluster, placement: Placement) -> str:
    names = [cluster.containers.name[c] for c in placement.unplaced[:FEW].tolist()]
    return items(filter(None, [*names, and_more(len(placement.unplaced) - len(names))]))
