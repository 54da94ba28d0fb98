"""A plan in words: the headline, what was gained at what price, the moves, what to know. The same words everywhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayplan.model import Placement, Plan, Reason, Snapshot, Term
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.goal import Goal
from bayplan.report.amounts import about, fullness, percent
from bayplan.report.answers.move_reasons import LABELS
from bayplan.report.answers.performance_words import change_details, change_parts
from bayplan.report.change_page.data import Card, FrontPoint, MoveNote, Verdict, batch_of
from bayplan.report.table import (
    Cell,
    Facts,
    Report,
    Sentence,
    Style,
    Table,
    TableColumn,
    count_cell,
    facts,
    report,
    sentences,
    table,
)
from bayplan.score.goal.state_figures import StateFigures
from bayplan.score.performance import PerformanceChange
from bayplan.words import count, first_names

SHOWN = 20  # moves; all are in the file
WARNINGS = 5
OVERLOAD = LABELS[Term.OVERLOAD]
LOCAL = "Traffic can stay on one machine where both ends run there; it does so only with routing that prefers the same machine."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFigures:
    """Three states: as it is, as the question changes it, and after the plan."""

    now: StateFigures
    before: StateFigures
    after: StateFigures


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanFacts:
    """All that there is to say about a plan."""

    snapshot: Snapshot  # as the question changes it
    after: Placement
    goal: Goal
    plan: Plan
    figures: PlanFigures
    moves: tuple[MoveNote, ...]
    placed: int
    duration: float  # seconds
    least_alive: float
    gain: float  # in the third rank, less the price
    min_gain: float
    worth_it: bool
    changes: tuple[str, ...] = ()  # what the question changes
    emptied: tuple[str, ...] = ()
    drained: tuple[str, ...] = ()
    dropped: int = 0
    replaced: tuple[Reason, ...] = ()
    left_out: tuple[Reason, ...] = ()
    still_violated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    most_local: float | None = None
    front: tuple[FrontPoint, ...] = ()
    performance: PerformanceChange | None = None  # by a model; None without traffic

    @property
    def running(self) -> int:
        """Containers that run before the plan."""
        return len(self.snapshot.placement.placed)

    @property
    def moved(self) -> int:
        """Containers that change machines."""
        return len(self.after.moved_from(self.snapshot.placement))


def headline(plan: PlanFacts) -> str:
    """'Plan: 7 of 77 containers move (9.1 %), 2 batches, about 1 min 40 s, at least 80 % of every workload up.'"""
    if not plan.worth_it:
        asked = f"less than the {percent(plan.min_gain)} that was asked for"
        return f"Not worth it: the best plan found gains {percent(max(0.0, plan.gain))}, {asked}."
    if not plan.moved and not plan.placed:
        return f"No change: no move was found that pays. {count(plan.running, 'container')} stay where they run."
    moving = f"{plan.moved:,} of {count(plan.running, 'container')} move ({percent(plan.moved / max(1, plan.running))})"
    parts = [
        moving,
        f"{plan.placed:,} placed" if plan.placed else "",
        count(len(plan.plan.batches), "batch"),
        f"about {about(plan.duration)}",
        f"at least {percent(plan.least_alive)} of every workload up",
    ]
    return f"Plan: {', '.join(filter(None, parts))}."


def gains(plan: PlanFacts) -> list[str]:
    """What changes, one sentence each; what stays the same is left out unless it matters."""
    old, new = plan.figures.before, plan.figures.after
    lines = []
    if old.violated or new.violated:
        lines.append(f"Violated rules {old.violated:,} -> {new.violated:,}.")
    if old.unplaced or new.unplaced:
        lines.append(f"Containers without a machine {old.unplaced:,} -> {new.unplaced:,}.")
    lines.append(f"Machines above safety {old.hot:,} -> {new.hot:,}." if old.hot or new.hot else "No machine is above safety.")
    if new.local is not None and old.local is not None:
        lines.append(f"Traffic that can stay on one machine {percent(old.local)} -> {percent(new.local)}.")
    lines.append(f"Fullest machine {fullness(old.fullest)} -> {fullness(new.fullest)}.")
    lines += [_drained(plan, machine) for machine in plan.drained]
    empty = [machine for machine in plan.emptied if machine not in plan.drained]
    if empty:
        lines.append(f"{count(len(empty), 'machine')} can go: {first_names(empty, 12)}.")
    elif plan.goal.empty_machines:
        lines.append("No machine was found that can go.")
    if plan.most_local is not None and plan.moved:
        most = f"No plan of {count(plan.moved, 'move')} keeps more than {percent(plan.most_local)} local (proven)."
        lines.append(most)
    return lines


def _drained(plan: PlanFacts, machine: str) -> str:
    """'Machine a1 is emptied: 8 -> 0 containers.'"""
    m = plan.snapshot.cluster.machines.name.index(machine)
    old, new = (int((placement.machine_of == m).sum()) for placement in (plan.snapshot.placement, plan.after))
    if machine in plan.emptied and new:
        return f"Machine {machine} is emptied: {old:,} -> {count(new, 'container')} that {'goes' if new == 1 else 'go'} with it."
    return f"Machine {machine} is {'emptied' if not new else 'not empty'}: {old:,} -> {count(new, 'container')}."


def warnings(plan: PlanFacts) -> list[str]:
    """What a careful reader should know before acting."""
    lines = [f"still violated: {sentence}" for sentence in plan.still_violated]
    lines += [f"left out: {reason}" for reason in plan.left_out]
    lines += [
        f"{machine} is not empty: {names}"
        for machine in plan.drained
        if (names := _stay(plan, machine)) and machine not in plan.emptied
    ]
    lines += [f"not moved, because no safe order was found: {reason}" for reason in plan.replaced]
    if plan.figures.after.hot and plan.goal.safety:
        lines.append(f"{count(plan.figures.after.hot, 'machine')} stay above safety: {_why_hot(plan)}")
    return lines + list(plan.notes)


def _stay(plan: PlanFacts, machine: str) -> str:
    """Containers that still run on a machine that was to be emptied, and why."""
    cluster = plan.snapshot.cluster
    m = cluster.machines.name.index(machine)
    pinned = set(np.flatnonzero(pinned_containers(cluster)).tolist())
    stuck = {reason.subject: reason.text for reason in plan.replaced}
    words = []
    for c in (plan.after.machine_of == m).nonzero()[0].tolist():
        name = cluster.containers.name[c]
        why = "is pinned" if c in pinned else stuck.get(name, "no other machine was found that can take it")
        words.append(f"{name} {why}" if c in pinned else f"{name}: {why}")
    return "; ".join(words[:SHOWN])


def _why_hot(plan: PlanFacts) -> str:
    limit = plan.moved / max(1, plan.running)
    return f"more moves than {percent(limit)} may help (--max-moves), or more machines (--add-machines)"


def plan_content(plan: PlanFacts) -> Report:
    """Below the headline: what was gained, the moves, warnings, how it was made."""
    style: Style = "good" if plan.moved or plan.placed else ""
    told = [Sentence(line, style) for line in gains(plan)] if plan.worth_it else []
    local = [Sentence(LOCAL, "soft")] if plan.figures.after.local is not None and plan.moved else []
    changed = [Sentence(f"what if: {line}") for line in plan.changes]
    return report(
        *changed,
        *told,
        *local,
        *([comparison_table(plan)] if plan.changes else []),
        *(change_parts(plan.performance) if plan.worth_it and (plan.moved or plan.placed) else ()),
        move_table(plan).first(SHOWN, "moves; all are in the file"),
        front_table(plan.front),
        *sentences(warnings(plan), WARNINGS, "warnings", "warn"),
        goal_facts(plan),
    )


def goal_facts(plan: PlanFacts) -> Facts:
    """The goal, its ranks, and what was left aside."""
    return facts(
        ("goal", f"{plan.goal.name}: {plan.goal.about}" if plan.goal.about else plan.goal.name),
        *((f"rank {number}", rank) for number, rank in enumerate(plan.goal.ranks, start=1)),
        ("dropped", f"{count(plan.dropped, 'move')} that did not pay" if plan.dropped else ""),
    )


def move_table(plan: PlanFacts) -> Table:
    """Every move with its batch, what it is worth, and why; those worth most first."""
    columns = (
        TableColumn("container"),
        TableColumn("from"),
        TableColumn("to"),
        TableColumn("batch", "number", drop=2),
        TableColumn("worth", "share", drop=1),
        TableColumn("why", least=30),
    )
    cluster, batch = plan.snapshot.cluster, batch_of(plan.moves, plan.plan)
    order = sorted(range(len(plan.moves)), key=lambda i: _importance(plan.moves[i]))
    rows = (
        (
            Cell(cluster.containers.name[move.container]),
            Cell(cluster.machines.name[move.source]),
            Cell(cluster.machines.name[move.target]),
            count_cell(int(batch[i])),
            Cell(worth(move), move.net),
            Cell(move.why),
        )
        for i, move in ((i, plan.moves[i]) for i in order)
    )
    return table(columns, rows, title=f"Moves: {len(plan.moves):,}")


def _importance(move: MoveNote) -> tuple[bool, float, int]:
    """What comes first: what takes load off hot machines, then what is worth most."""
    return move.reason != OVERLOAD, -move.net, move.container


def worth(move: MoveNote) -> str:
    """'1.2 %' of the weighted shares; 'safety' where the second rank decides."""
    return "safety" if move.reason == OVERLOAD else percent(move.net)


def comparison_table(plan: PlanFacts) -> Table:
    """Now, with the change alone, and with the plan; two states where nothing is changed."""
    figures = plan.figures
    states = {"now": figures.now, "what if": figures.before, "with the plan": figures.after}
    if not plan.changes:
        states = {"now": figures.before, "with the plan": figures.after}
    words = {name: figure_words(state) for name, state in states.items()}
    columns = (TableColumn("figure"), *(TableColumn(name, "number") for name in states))
    rows = ([Cell(label), *(Cell(words[name][label]) for name in states)] for label in words["now"] if _known(words, label))
    return table(columns, rows, title="Compared" if plan.changes else "In figures")


def _known(words: Mapping[str, Mapping[str, str]], label: str) -> bool:
    return all(label in each for each in words.values())


def figure_words(state: StateFigures) -> dict[str, str]:
    """The figures of a state, by label."""
    words = {
        "violated rules": f"{state.violated:,}",
        "containers without a machine": f"{state.unplaced:,}",
        "machines above safety": f"{state.hot:,}",
        "traffic that can stay on one machine": "" if state.local is None else percent(state.local),
        "fullest machine": fullness(state.fullest),
        "95 % of machines are below": percent(state.p95),
        "variance of utilisation": f"{state.variance:.4f}",
        "machines in use": f"{state.machines:,}",
    }
    return {label: text for label, text in words.items() if text}


def cards(plan: PlanFacts) -> tuple[Card, ...]:
    """The figures of the headline, before and after."""
    old, new = plan.figures.before, plan.figures.after
    words = figure_words(old), figure_words(new)
    less_is_better = {
        "violated rules": (old.violated, new.violated),
        "containers without a machine": (old.unplaced, new.unplaced),
        "machines above safety": (old.hot, new.hot),
        "fullest machine": (old.fullest, new.fullest),
        "variance of utilisation": (old.variance, new.variance),
    }
    made = [_card(words, label, *pair) for label, pair in less_is_better.items() if any(pair)]
    if new.local is not None and old.local is not None:
        made.insert(0, _card(words, "traffic that can stay on one machine", new.local, old.local))  # more is better
    price = Card(label="containers that move", before="", after=f"{plan.moved:,}", note=f"of {plan.running:,}")
    way = Card(label="batches", before="", after=f"{len(plan.plan.batches):,}", note=f"about {about(plan.duration)}")
    return (*made, price, way)


def _card(words: tuple[Mapping[str, str], Mapping[str, str]], label: str, old: float, new: float) -> Card:
    return Card(label=label, before=words[0][label], after=words[1][label], verdict=_verdict(old, new))


def _verdict(old: float, new: float) -> Verdict:
    if abs(old - new) <= 1e-9 * max(1.0, abs(old) if old != float("inf") else 1.0):
        return "same"
    return "better" if new < old else "worse"


def front_table(front: Iterable[FrontPoint]) -> Table:
    """What fewer and more moves would gain."""
    points = list(front)
    labels = list(points[0].figures) if points else []
    wanted = [label for label in labels if label.startswith(("machines above", "traffic", "fullest"))]
    columns = (
        TableColumn("moves", "number"),
        TableColumn("share moved", "share", short="share\nmoved"),
        TableColumn("gain", "share"),
        *(TableColumn(label, "number", drop=1 + i) for i, label in enumerate(wanted)),
        TableColumn("", least=1, key="chosen"),
    )
    rows = (
        [
            count_cell(point.moved),
            Cell(percent(point.share), point.share),
            Cell(percent(point.gain), point.gain),
            *(Cell(point.figures[label]) for label in wanted),
            Cell("the plan" if point.chosen else ""),
        ]
        for point in points
    )
    return table(columns, rows, title="The front: what fewer and more moves would gain")


def plan_details(plan: PlanFacts) -> dict[str, Any]:
    """What JSON says about a plan beside what it says about every answer."""
    cluster, batch = plan.snapshot.cluster, batch_of(plan.moves, plan.plan)
    return {
        "goal": {"name": plan.goal.name, "about": plan.goal.about, "ranks": plan.goal.ranks},
        "sentences": [*gains(plan)] if plan.worth_it else [],
        "warnings": warnings(plan),
        "worth_it": plan.worth_it,
        "gain": plan.gain,
        "min_gain": plan.min_gain,
        "batches": len(plan.plan.batches),
        "duration": plan.duration,
        "least_alive": plan.least_alive,
        "figures": {"now": plan.figures.now, "before": plan.figures.before, "after": plan.figures.after},
        "most_local": plan.most_local,
        "performance": change_details(plan.performance),
        "changes": plan.changes,
        "emptied": plan.emptied,
        "drained": plan.drained,
        "dropped": plan.dropped,
        "replaced": [{"name": reason.subject, "reason": reason.text} for reason in plan.replaced],
        "reasons": [
            {
                "container": cluster.containers.name[move.container],
                "from": cluster.machines.name[move.source],
                "to": cluster.machines.name[move.target],
                "batch": int(batch[i]),
                "gain": dict(move.gain),
                "net": move.net,
                "reason": move.reason,
                "why": move.why,
            }
            for i, move in enumerate(plan.moves)
        ],
        "front": [
            {
                "moved": point.moved,
                "share": point.share,
                "gain": point.gain,
                "figures": dict(point.figures),
                "chosen": point.chosen,
            }
            for point in plan.front
        ],
    }
