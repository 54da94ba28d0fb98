"""Which failures a cluster survives, in words and in tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.model import MACHINE, Cluster, Reason
from bayplan.model.failures import FailureOutcome, FailureVerdict
from bayplan.report.amounts import percent, seconds
from bayplan.report.table import UNKNOWN, Cell, Report, Sentence, Style, Table, TableColumn, count_cell, facts, report, share_cell
from bayplan.report.table import table as table_of
from bayplan.words import count, first_names, plural

WORDS: dict[FailureVerdict, tuple[str, Style]] = {
    FailureVerdict.HOLDS: ("yes", "good"),
    FailureVerdict.ABOVE_SAFETY: ("yes, above safety", "warn"),
    FailureVerdict.WITH_MOVES: ("yes, if others move", "warn"),
    FailureVerdict.NOT_FOUND: ("no place found", "bad"),
    FailureVerdict.IMPOSSIBLE: ("no, proven", "bad"),
}
Reasons = Sequence[tuple[FailureOutcome, Sequence[Reason]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapacityView:
    """What is shown of all failures of a cluster."""

    cluster: Cluster
    survive: str  # the level that was asked for
    holds: bool | None  # None if not all of its failures were looked at
    outcomes: Sequence[FailureOutcome]  # worst first
    shown: Sequence[FailureOutcome]  # in tables
    failures: int  # that there are
    likes: Sequence[str]  # machines whose copies were tried
    tried: Sequence[int]  # how many of each
    may_move: bool
    alive: int
    seconds: float

    @property
    def levels(self) -> list[str]:
        """The level that was asked for, then the others in the order of the cluster."""
        seen = {outcome.failure.level for outcome in self.outcomes}
        return sorted(seen, key=lambda name: (name != self.survive, self.cluster.level_index(name)))

    def of_level(self, level: str) -> list[FailureOutcome]:
        """The outcomes of a level, worst first."""
        return [outcome for outcome in self.outcomes if outcome.failure.level == level]


def headline(view: CapacityView) -> str:
    """One sentence per level, that which was asked for first."""
    return " ".join(level_sentences(view))


def level_sentences(view: CapacityView) -> list[str]:
    """The same, one by one."""
    sentences = [_level_sentence(view, level) for level in view.levels]
    if len(view.outcomes) < view.failures:
        sentences.append(f"Only {len(view.outcomes):,} of {count(view.failures, 'failure')} were looked at.")
    return sentences or ["There are no machines that could fail."]


def _level_sentence(view: CapacityView, level: str) -> str:
    outcomes = view.of_level(level)
    bad = [outcome for outcome in outcomes if not outcome.holds]
    if not bad:
        return _all_hold(view, level, outcomes[0])
    first = bad[0]
    if len(bad) == 1:
        others = f"Any other {level} may fail. " if len(outcomes) > 1 else ""
        return f"{level.capitalize()} {first.failure.group} may not fail: {trouble(view, first)}. {others}".strip()
    which = "No" if len(bad) == len(outcomes) else f"{len(bad):,} of {len(outcomes):,}"
    may = f"{which} {level} may fail" if which == "No" else f"{which} {plural(level)} may not fail"
    return f"{may}; the worst is {first.failure.group}: {trouble(view, first)}."


def _all_hold(view: CapacityView, level: str, worst: FailureOutcome) -> str:
    """'Any single machine may fail: everything fits elsewhere (worst: b1, which leaves the fullest machine at 97 %).'"""
    which = "Any single machine" if level == MACHINE else f"Any {level}"
    moves = ", if others move" if worst.verdict is FailureVerdict.WITH_MOVES else ""
    then = worst.replacement
    leaves = f", which leaves {view.cluster.machines.name[then.fullest]} at {percent(then.fullness)}" if then.fullest >= 0 else ""
    above = f", {count(then.above_safety, 'machine')} above safety" if then.above_safety else ""
    return f"{which} may fail: everything fits elsewhere{moves} (worst: {worst.failure.group}{leaves}{above})."


def trouble(view: CapacityView, outcome: FailureOutcome) -> str:
    """'14 containers of 6 workloads have no place; 3 more machines like w1 would do (at least 2, proven)'."""
    then, parts = outcome.replacement, []
    if outcome.rules_lost:
        more = f" (and {count(len(outcome.rules_lost) - 1, 'more such rule')})" if len(outcome.rules_lost) > 1 else ""
        parts.append(f"{outcome.rules_lost[0]}{more}")
        if outcome.all_placed:
            parts.append("apart from that, everything fits elsewhere")
    if len(then.left_out):
        workloads = len(set(view.cluster.containers.workload[then.left_out].tolist()))
        no_place = "have no place" if outcome.proof else "found no place (nothing is proven)"
        parts.append(f"{count(len(then.left_out), 'container')} of {count(workloads, 'workload')} {no_place}")
        if len(then.left_out) == 1:
            parts[-1] = parts[-1].replace("have no", "has no")
    if then.unmet:
        parts.append(f"{count(then.unmet, 'container')} elsewhere would be without a service on which they depend")
    if then.too_close and not outcome.rules_lost:
        parts.append(f"{count(then.too_close, 'service')} would run in fewer groups than its spread rule asks for")
    if outcome.proof:
        parts.append(outcome.proof)
    if not outcome.all_placed:
        parts.append(further_words(view, outcome))
    return "; ".join(filter(None, parts))


def further_words(view: CapacityView, outcome: FailureOutcome) -> str:
    """'3 more machines like w1 would do (at least 2, proven)'."""
    further = outcome.further
    if further.kind < 0:
        return ""
    like = view.likes[further.kind]
    if further.enough is None:
        return f"no number of machines like {like} was found that would do ({view.tried[further.kind]:,} tried)"
    if further.enough == 0:
        return ""
    least = f" (at least {further.at_least:,}, proven)" if further.at_least else ""
    return f"{count(further.enough, 'more machine')} like {like} would do{least}"


def capacity_report(view: CapacityView, reasons: Reasons) -> Report:
    """The headline, the counts of every level, the worst failures, and why containers have no place."""
    style: Style = "good" if view.holds else "bad"
    asked = (
        ("asked for", f"the failure of any {'single machine' if view.survive == MACHINE else view.survive}"),
        ("others move", "where there is no place otherwise" if view.may_move else "no"),
        ("looked at", f"{len(view.outcomes):,} of {count(view.failures, 'failure')}"),
        ("time", seconds(view.seconds)),
    )
    lines = [Sentence(line) for outcome, why in reasons for line in reason_lines(outcome, why)]
    return report(Sentence(headline(view), style), facts(*asked), level_table(view), failure_table(view), *lines)


def reason_lines(outcome: FailureOutcome, why: Sequence[Reason]) -> Iterator[str]:
    """'zone west fails: web-3: 0/8 machines fit (8 short of cpu)', one line per workload that is shown."""
    hidden = len(outcome.replacement.left_out) - len(why)
    for number, reason in enumerate(why):
        more = f" (and {hidden:,} more left out)" if hidden > 0 and number == len(why) - 1 else ""
        yield f"{outcome.failure.name} fails: {reason}{more}"


def level_table(view: CapacityView) -> Table:
    """One line per level."""
    columns = (
        TableColumn("level"),
        TableColumn("failures", "number"),
        TableColumn("hold", "number"),
        TableColumn("above safety", "number", drop=2),
        TableColumn("with moves", "number", drop=1),
        TableColumn("do not", "number"),
        TableColumn("more machines that would do", short="more machines\nthat would do"),
    )
    rows = []
    for level in view.levels:
        outcomes = view.of_level(level)
        bad = sum(not outcome.holds for outcome in outcomes)
        by = {verdict: sum(outcome.verdict is verdict for outcome in outcomes) for verdict in FailureVerdict}
        rows.append(
            (
                Cell(level, style="strong" if level == view.survive else ""),
                count_cell(len(outcomes)),
                count_cell(len(outcomes) - bad),
                count_cell(by[FailureVerdict.ABOVE_SAFETY]),
                count_cell(by[FailureVerdict.WITH_MOVES]),
                count_cell(bad, "bad" if bad else ""),
                Cell(level_words(view, level)),
            )
        )
    return table_of(columns, rows, title="Levels")


def level_needs(view: CapacityView, level: str) -> list[tuple[str, int, int]] | None:
    """(like, enough, at least) so that every failure of a level holds, by kind of machine; None if that is not known.

    Kinds add up: a machine in one zone does not help where that zone fails.
    """
    enough: dict[int, int] = {}
    least: dict[int, int] = {}
    for outcome in view.of_level(level):
        if outcome.holds or (outcome.all_placed and not outcome.rules_lost):
            continue
        if outcome.further.enough is None or outcome.rules_lost:
            return None
        kind = outcome.further.kind
        enough[kind] = max(enough.get(kind, 0), outcome.further.enough)
        least[kind] = max(least.get(kind, 0), outcome.further.at_least)
    return [(view.likes[kind], enough[kind], least[kind]) for kind in sorted(enough)]


def level_words(view: CapacityView, level: str) -> str:
    """'3 like w1 (at least 2)'; a dash where nothing is missing."""
    needs = level_needs(view, level)
    if needs is None:
        return "no number found"
    words = [f"{enough:,} like {like}" + (f" (at least {least:,})" if least else "") for like, enough, least in needs if enough]
    return " and ".join(words) or UNKNOWN


def failure_table(view: CapacityView) -> Table:
    """The worst failures, worst first."""
    columns = (
        TableColumn("fails"),
        TableColumn("holds"),
        TableColumn("containers", "number"),
        TableColumn("pinned", "number", drop=1),
        TableColumn("left out", "number"),
        TableColumn("workloads down", "number", short="workloads\ndown", drop=3),
        TableColumn(f"below {view.alive}", "number", drop=2),
        TableColumn("capacity lost", "share", short="capacity\nlost", drop=4),
        TableColumn("fullest after", "share", short="fullest\nafter", drop=5),
        TableColumn("above safety", "number", short="above\nsafety", drop=6),
        TableColumn("more machines", short="more\nmachines"),
    )
    listed = table_of(columns, (_failure_row(view, outcome) for outcome in view.shown), title="Failures, worst first")
    hidden = len(view.outcomes) - len(view.shown)
    return Table(
        columns=listed.columns, rows=listed.rows, title=listed.title, footer=f"and {hidden:,} more" if hidden > 0 else ""
    )


def _failure_row(view: CapacityView, outcome: FailureOutcome) -> tuple[Cell, ...]:
    loss, then, further = outcome.loss, outcome.replacement, outcome.further
    text, style = WORDS[outcome.verdict]
    least = f" (at least {further.at_least:,})" if further.at_least else ""
    more = UNKNOWN if further.enough is None or further.kind < 0 else f"{further.enough:,} like {view.likes[further.kind]}{least}"
    return (
        Cell(outcome.failure.name),
        Cell(text, style=style),
        count_cell(loss.containers),
        count_cell(len(loss.pinned)),
        count_cell(len(then.left_out), "bad" if len(then.left_out) else ""),
        count_cell(len(loss.down), "warn" if len(loss.down) else ""),
        count_cell(len(loss.below)),
        share_cell(loss.share),
        share_cell(then.fullness if then.fullest >= 0 else None),
        count_cell(then.above_safety, "warn" if then.above_safety else ""),
        Cell(more),
    )


def level_dicts(view: CapacityView) -> list[dict[str, Any]]:
    """Every level, for JSON."""
    return [
        {
            "level": level,
            "failures": len(outcomes := view.of_level(level)),
            "hold": sum(outcome.holds for outcome in outcomes),
            "above_safety": sum(outcome.verdict is FailureVerdict.ABOVE_SAFETY for outcome in outcomes),
            "with_moves": sum(outcome.verdict is FailureVerdict.WITH_MOVES for outcome in outcomes),
            "do_not": sum(not outcome.holds for outcome in outcomes),
            "more_machines": None
            if (needs := level_needs(view, level)) is None
            else [{"like": like, "enough": enough, "at_least": least} for like, enough, least in needs],
        }
        for level in view.levels
    ]


def failure_dict(view: CapacityView, outcome: FailureOutcome, why: Sequence[Reason]) -> dict[str, Any]:
    """One failure, for JSON."""
    loss, then, further, cluster = outcome.loss, outcome.replacement, outcome.further, view.cluster
    return {
        "level": outcome.failure.level,
        "group": outcome.failure.group,
        "machines": len(outcome.failure.machines),
        "verdict": outcome.verdict.value,
        "holds": outcome.holds,
        "containers": loss.containers,
        "pinned": len(loss.pinned),
        "down": [cluster.workloads.name[w] for w in loss.down.tolist()],
        "below": [cluster.workloads.name[w] for w in loss.below.tolist()],
        "capacity_lost": loss.share,
        "resource": cluster.resources[outcome.demand.resource].name if cluster.resources else None,
        "needed": outcome.demand.needed,
        "free": outcome.demand.free,
        "left_out": [cluster.containers.name[c] for c in then.left_out.tolist()],
        "reasons": [{"name": reason.subject, "reason": reason.text} for reason in why],
        "unmet": then.unmet,
        "too_close": then.too_close,
        "moved": len(then.moved),
        "fullest": None if then.fullest < 0 else cluster.machines.name[then.fullest],
        "fullness": None if then.fullest < 0 else then.fullness,
        "above_safety": then.above_safety,
        "rules_lost": list(outcome.rules_lost),
        "proof": outcome.proof or None,
        "more_machines": None
        if further.kind < 0 or outcome.all_placed
        else {"like": view.likes[further.kind], "enough": further.enough, "at_least": further.at_least},
    }


def names_down(view: CapacityView, outcome: FailureOutcome) -> str:
    """'web, cart and 3 more': workloads that lose all replicas."""
    return first_names([view.cluster.workloads.name[w] for w in outcome.loss.down.tolist()])
