"""One self-contained HTML page per report: nothing is fetched, everything is escaped."""

from collections.abc import Iterable, Mapping

from bayplan.model import Cluster, Placement, Snapshot
from bayplan.report import sections
from bayplan.report.amounts import scale_of
from bayplan.report.broken import verdict
from bayplan.report.markup import card, tag
from bayplan.report.names import name_of
from bayplan.report.page import figure, header, page
from bayplan.report.page import footer as made
from bayplan.report.pictures import affinity_bars, bay_plan, before_after, heat_map, traffic_bars, utilisation_cdf
from bayplan.report.pictures.change import change_words
from bayplan.score.summary import Summary


def report_page(
    snapshot: Snapshot,
    summary: Summary,
    violations: Iterable[object],
    *,
    title: str = "",
    footer: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about one placement. `footer` says how it was made: {"version": ..., "seed": ..., "command": ...}."""
    cluster, placement, broken = snapshot.cluster, snapshot.placement, list(violations)
    body = [
        header(title or name_of(cluster), verdict(broken), not broken, scale_of(cluster)),
        sections.numbers(summary),
        tag("h2", "What is wrong"),
        sections.wrong(summary, broken, cluster, placement),
        tag("h2", "Where everything stands"),
        figure(bay_plan(cluster, placement, group_by=group_by)),
        figure(utilisation_cdf(cluster, placement)),
        figure(heat_map(cluster, placement)),
        figure(traffic_bars(cluster, placement)) if len(cluster.traffic.a) else "",
        tag("h2", "In numbers"),
        _tables(snapshot, summary, sections.score_table(summary)),
        made(footer or {}, snapshot.notes),
    ]
    return page(title or name_of(cluster), body)


def comparison_page(
    before: Snapshot,
    after: Placement,
    summaries: tuple[Summary, Summary],
    *,
    violations: Iterable[object] = (),
    title: str = "",
    footer: Mapping[str, str] | None = None,
    group_by: str | None = None,
) -> str:
    """The page about a change: `summaries` are before and after, `violations` those of the placement after."""
    cluster, broken, (old, new) = before.cluster, list(violations), summaries
    body = [
        header(
            title or name_of(cluster),
            verdict(broken),
            not broken,
            f"{scale_of(cluster)}: {change_words(before.placement, after)}",
        ),
        sections.numbers(new),
        tag("h2", "What changes"),
        card("", sections.change_table(old.score, new.score)),
        tag("h2", "Where everything stands"),
        figure(before_after(cluster, before.placement, after, group_by=group_by)),
        figure(utilisation_cdf(cluster, after, before=before.placement)),
        figure(heat_map(cluster, after)),
        *_affinity(cluster, before.placement, after),
        tag("h2", "What is wrong afterwards"),
        sections.wrong(new, broken, cluster, after),
        tag("h2", "In numbers, afterwards"),
        _tables(before, new, sections.score_table(new)),
        made(footer or {}, before.notes),
    ]
    return page(title or name_of(cluster), body)


def _affinity(cluster: Cluster, before: Placement, after: Placement) -> list[str]:
    """What stays on one machine of the heaviest traffic; nothing without traffic."""
    if not len(cluster.traffic.a):
        return []
    return [
        tag("h2", "Affinity"),
        figure(affinity_bars(cluster, before, after)),
        card("The heaviest pairs", sections.edge_table(cluster, before, after)),
    ]


def _tables(snapshot: Snapshot, summary: Summary, scores: str) -> str:
    parts = [
        card("Scores", scores),
        card("Use of the machines, by requests", sections.use_table(summary, snapshot.cluster.resources)),
        card("The fullest machines", sections.hot_table(summary, snapshot.cluster.resources)) if summary.hot else "",
    ]
    return tag("div", *parts, class_="tables")
