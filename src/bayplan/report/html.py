"""One self-contained HTML page per report: nothing is fetched, everything is escaped."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from bayplan.model import Placement, Snapshot
from bayplan.report import sections, svg
from bayplan.report.amounts import scale_of
from bayplan.report.broken import verdict
from bayplan.report.markup import card, items, tag
from bayplan.report.names import name_of
from bayplan.report.pictures import bay_plan, before_after, heat_map, traffic_bars, utilisation_cdf
from bayplan.report.pictures.change import change_words
from bayplan.score.summary import Summary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # the browser enforces "no network"


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
        _header(title or name_of(cluster), broken, scale_of(cluster)),
        sections.numbers(summary),
        tag("h2", "What is wrong"),
        sections.wrong(summary, broken, cluster, placement),
        tag("h2", "Where everything stands"),
        _figure(bay_plan(cluster, placement, group_by=group_by)),
        _figure(utilisation_cdf(cluster, placement)),
        _figure(heat_map(cluster, placement)),
        _figure(traffic_bars(cluster, placement)) if len(cluster.traffic.a) else "",
        tag("h2", "In numbers"),
        _tables(snapshot, summary, sections.score_table(summary)),
        _footer(snapshot, footer or {}),
    ]
    return _page(title or name_of(cluster), body)


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
        _header(title or name_of(cluster), broken, f"{scale_of(cluster)}: {change_words(before.placement, after)}"),
        sections.numbers(new),
        tag("h2", "What changes"),
        card("", sections.change_table(old.score, new.score)),
        tag("h2", "Where everything stands"),
        _figure(before_after(cluster, before.placement, after, group_by=group_by)),
        _figure(utilisation_cdf(cluster, after, before=before.placement)),
        _figure(heat_map(cluster, after)),
        tag("h2", "What is wrong afterwards"),
        sections.wrong(new, broken, cluster, after),
        tag("h2", "In numbers, afterwards"),
        _tables(before, new, sections.score_table(new)),
        _footer(before, footer or {}),
    ]
    return _page(title or name_of(cluster), body)


def _page(title: str, body: Iterable[str]) -> str:
    head = tag(
        "head",
        svg.element("meta", charset="utf-8"),
        svg.element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        svg.element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", svg.escaped(f"{title} – bayplan")),
        tag("style", _file("page.css")),
        svg.STYLE,
    )
    script = tag("script", _file("page.js"))
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', *body), script), lang='en')}\n"


def _header(title: str, broken: list[object], lead: str) -> str:
    badge = tag("span", svg.escaped(verdict(broken)), class_="verdict bad" if broken else "verdict good")
    return tag("header", tag("h1", svg.escaped(title)), badge, tag("p", svg.escaped(lead), class_="lead"))


def _tables(snapshot: Snapshot, summary: Summary, scores: str) -> str:
    parts = [
        card("Scores", scores),
        card("Use of the machines, by requests", sections.use_table(summary, snapshot.cluster.resources)),
        card("The fullest machines", sections.hot_table(summary, snapshot.cluster.resources)) if summary.hot else "",
    ]
    return tag("div", *parts, class_="tables")


def _figure(picture: str) -> str:
    return tag("figure", svg.without_style(picture))


def _footer(snapshot: Snapshot, made: Mapping[str, str]) -> str:
    facts = "".join(tag("dt", svg.escaped(name)) + tag("dd", tag("code", svg.escaped(value))) for name, value in made.items())
    notes = items(snapshot.notes) if snapshot.notes else ""
    return tag("footer", tag("h3", "How this was made"), tag("dl", facts) if facts else "", notes) if facts or notes else ""


def _file(name: str) -> str:
    return files("bayplan.report").joinpath(name).read_text(encoding="utf-8").strip()
