"""Rich tables for people in a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bayplan.model import Resource, Result
from bayplan.report.amounts import count, human_amount, of_capacity, percent, score
from bayplan.report.broken import SHOWN, rest, verdict
from bayplan.report.lines import facts, plain_table, plain_text, spaced
from bayplan.report.meanings import meaning_of
from bayplan.report.names import printable_fields
from bayplan.report.narrow import Narrowing
from bayplan.score.explain import Explanation
from bayplan.score.summary import HotMachine, ResourceUse, Summary

FEW = 8  # machines and partners of one container


def show_tables(summary: Summary, resources: Sequence[Resource] = ()) -> list[RenderableType]:
    """What `show` prints: counts, use per resource, the hottest machines, the scores and what they mean."""
    by_name = {resource.name: resource for resource in resources}
    tables: list[RenderableType] = [_headline(summary), _use_table(summary, by_name)]
    if summary.hot:
        tables.append(_hot_table(summary, by_name))
    tables.append(_score_table(summary.score, summary.normalised))
    return [*spaced(tables), Text("")]


def check_tables(violations: Iterable[object], *, shown: int = SHOWN) -> list[RenderableType]:
    """The verdict, then the first sentences about broken rules."""
    broken = list(violations)
    style = "bold red" if broken else "bold green"
    parts: list[RenderableType] = [plain_text(verdict(broken), style)]
    if broken:
        table = plain_table("", "what is wrong")
        for index, violation in enumerate(broken[:shown], start=1):
            table.add_row(str(index), plain_text(violation))
        parts.append(table)
    if more := rest(broken, shown):
        parts.append(Text(f"{more} (`bayplan check` lists them all)", style="dim"))
    return parts


def explain_tables(explanation: object) -> list[RenderableType]:
    """What `explain` prints: its sentences, whom it talks to, and what blocks the other machines."""
    explanation = printable_fields(explanation)
    first, *rest = str(explanation).split("\n")
    parts: list[RenderableType] = [Group(plain_text(first, "bold"), *map(plain_text, rest))]
    if isinstance(explanation, Explanation):
        parts += [_alternatives(explanation)] if explanation.alternatives else []
        parts += [_partners(explanation)] if explanation.partners else []
        parts += [_blocked(explanation)] if explanation.why else []
    return spaced(parts)


def _alternatives(explanation: Explanation) -> Table:
    """The change of the objective, machine by machine; for a container that has none only their order says something."""
    table = plain_table("machine", title="If it ran elsewhere")
    table.add_column("change of the\nobjective", justify="right", no_wrap=True)
    table.add_column("")
    for alternative in explanation.alternatives[:FEW]:
        change = alternative.change
        better, placed = change < 0, explanation.machine is not None and change != 0
        words = Text("better" if better else "worse", style="green" if better else "dim") if placed else ""
        table.add_row(plain_text(alternative.machine), f"{change:+.3g}" if change else "0", words)
    if (more := len(explanation.alternatives) - FEW) > 0:
        table.add_row(f"and {more:,} more", "", "", style="dim")
    return table


def _partners(explanation: Explanation) -> Table:
    table = plain_table("talks to", title="Its traffic")
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("local", justify="right", no_wrap=True)
    table.add_column("on", overflow="fold")
    for partner in explanation.partners[:FEW]:
        where = ", ".join([*list(partner.machines)[:FEW], *(["..."] if len(partner.machines) > FEW else [])])
        table.add_row(plain_text(partner.workload), percent(partner.share), percent(partner.local), plain_text(where))
    return table


def _blocked(explanation: Explanation) -> Table:
    table = plain_table("machine", "what blocks it", title=f"Machines that cannot take it: {len(explanation.why):,}")
    for machine, why in list(explanation.why.items())[:FEW]:
        table.add_row(plain_text(machine), plain_text(why))
    if len(explanation.why) > FEW:
        table.add_row(f"and {len(explanation.why) - FEW:,} more", "", style="dim")
    return table


def result_tables(
    result: Result[Any], *, method: str, counts: Mapping[str, int | str] = MappingProxyType({})
) -> list[RenderableType]:
    """What a decision prints: how it ended, the caller's counts (placed, moved, ..), its scores, and what is left out."""
    known = [("method", method), ("status", str(result.status)), ("seconds", f"{result.seconds:.2f}")]
    known += [(name, value if isinstance(value, str) else f"{value:,}") for name, value in counts.items()]
    if result.bound is not None:
        gap = f" (gap {percent(result.gap)})" if result.gap is not None else ""
        known.append((f"bound of {result.goal}", score(result.bound) + gap))
    parts: list[RenderableType] = [facts(known)]
    if result.score:
        parts.append(_score_table(result.score, {}))
    if result.left_out:
        parts.append(_reasons(result))
    return spaced(parts)


def _headline(summary: Summary) -> RenderableType:
    counts = summary.counts
    words = [_counted(name, number) for name, number in counts.items() if name != "machines_used"]
    if "machines_used" in counts and "machines" in counts:
        words[0] = f"{counts['machines_used']:,} of {count(counts['machines'], 'machine')} used"
    return Group(plain_text(summary.name.strip() or "cluster", "bold"), Text(", ".join(words)))


def _counted(name: str, number: int) -> str:
    return count(number, name.removesuffix("s")) if name.endswith("s") else f"{number:,} {name}"


def _use_table(summary: Summary, resources: Mapping[str, Resource]) -> Narrowing:
    table = plain_table("resource", title="Use of the machines, by requests")
    heads = ("load", "capacity", "mean", "p50", "p95", "max", "top\n1 %", "top\n5 %", "top\n10 %")
    for name in heads:
        table.add_column(name, justify="right", no_wrap=True)
    for use in summary.use:
        resource = resources.get(use.resource, Resource(name=use.resource))
        before, after = (use.mean, use.p50, use.p95), (use.top1, use.top5, use.top10)
        amounts = (human_amount(use.load, resource), human_amount(use.capacity, resource))
        table.add_row(plain_text(use.resource), *amounts, *map(percent, before), _maximum(use), *map(percent, after))
    return Narrowing(table, drop=(heads[7], heads[8], heads[6], "p50", "p95", "capacity", "load"))


def _maximum(use: ResourceUse) -> Text:
    """The maximum, red where it is more than there is; 'over' where there is none to take a share of."""
    shown = percent(use.maximum) if use.maximum < float("inf") else "over"
    return Text(shown, style="bold red" if use.over_capacity else "")


def _hot_table(summary: Summary, resources: Mapping[str, Resource]) -> Narrowing:
    table = plain_table("machine", "fullest resource", title="The fullest machines")
    for name in ("use", "containers"):
        table.add_column(name, justify="right", no_wrap=True)
    noteworthy = any(hot.over_safety or hot.over_capacity for hot in summary.hot)
    table.add_column("", overflow="fold", min_width=13 if noteworthy else None)
    for hot in summary.hot:
        style = "bold red" if hot.over_capacity else "yellow" if hot.over_safety else ""
        note = plain_text(_state(hot, resources.get(hot.resource, Resource(name=hot.resource))))
        cells = (plain_text(hot.machine), plain_text(hot.resource), percent(hot.utilisation), f"{hot.containers:,}", note)
        table.add_row(*cells, style=style)
    return Narrowing(table, drop=("containers", "fullest resource"))


def _state(hot: HotMachine, resource: Resource) -> str:
    if hot.over_capacity:
        return "over capacity" + (f" ({of_capacity(hot.load, hot.capacity, resource)})" if hot.capacity == 0 else "")
    return "over safety" if hot.over_safety else ""


def _score_table(scores: Mapping[str, float], normalised: Mapping[str, float]) -> Narrowing:
    table = plain_table(title="Scores")
    table.add_column("score", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    if normalised:
        table.add_column("0 best\n1 worst", justify="right", no_wrap=True)
    table.add_column("what it means", overflow="fold", min_width=16)
    for name, value in scores.items():
        rank = [_rank(normalised[name]) if name in normalised else ""] if normalised else []
        table.add_row(plain_text(name), score(value), *rank, plain_text(meaning_of(name), "dim"))
    return Narrowing(table, drop=("what it means", "0 best\n1 worst"))


def _rank(value: float) -> str:
    return f"{value:.3f}" if value == value else "–"


def _reasons(result: Result[Any]) -> Table:
    table = plain_table("left out", "why", title=f"Left out: {len(result.left_out):,}")
    for reason in result.left_out[:SHOWN]:
        table.add_row(plain_text(reason.subject), plain_text(reason.text))
    if len(result.left_out) > SHOWN:
        table.add_row(f"and {len(result.left_out) - SHOWN:,} more", "")
    return table
