"""A plan that a person hands to the loop: by name in the record until the loop takes it, then by the identity of what runs.

It was made on a snapshot of some minutes ago, on the page of the service or by `bayplan plan`. What changed since is left out: a
container that is gone or runs elsewhere by now, a machine that is not there. With less than half of it left it is out of date.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from bayplan.api.problem import matching_any
from bayplan.errors import UsageError
from bayplan.formats.solutions import named_steps
from bayplan.formats.targets import reasons_of
from bayplan.model import Action, Plan, Step
from bayplan.model.record import PlannedMove, PlanStatus, RecordedPlan, Turn
from bayplan.operate.orchestrator import Observation
from bayplan.operate.stages.decide import written_plan
from bayplan.words import count

LEAST = 0.5  # of its moves: with fewer that still can be made, a plan is out of date


def handed_in(document: object, source: str, by: str, at: float) -> RecordedPlan:
    """The plan of a document as the record keeps it until the loop takes it; `source` is what messages call it."""
    batches, why = named_steps(document, source), reasons_of(document)
    about: Mapping[str, Any] = document if isinstance(document, Mapping) else {}
    summary = about.get("summary")
    moves = tuple(
        PlannedMove(container=name, uid="", workload="", source=where[0], target=where[1], why=why.get(name, ""))
        for name, where in sorted(_ends(batches).items())
    )
    if not moves:
        raise UsageError(f"{source} moves no container that runs; expected a plan with moves")
    return RecordedPlan(
        id=f"handed-{blake2b(f'{batches} {at}'.encode(), digest_size=3).hexdigest()}",
        turn=None,
        created=at,
        changed=at,
        status=PlanStatus.APPROVED,
        goal=str(about.get("goal", "")),
        moves=moves,
        batches=batches,
        summary=tuple(map(str, summary)) if isinstance(summary, list) else (),
        why=f"handed in by {by}",
        approved_by=by,
    )


def _ends(batches: tuple[tuple[tuple[str, str, str], ...], ...]) -> dict[str, tuple[str, str]]:
    """Container -> the machine that it leaves first, the last one that it comes to; only of those that do both."""
    left: dict[str, str] = {}
    reached: dict[str, str] = {}
    for action, container, machine in (step for batch in batches for step in batch):
        if action == Action.DELETE:
            left.setdefault(container, machine)
        else:
            reached[container] = machine
    return {name: (machine, reached[name]) for name, machine in left.items() if name in reached}


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenPlan:
    """A handed-in plan on what runs now."""

    plan: RecordedPlan
    left_out: Mapping[str, str]  # container -> why it cannot be moved as the plan says

    @property
    def out_of_date(self) -> str:
        """Why the plan is not carried out; empty if it is."""
        whole = len(self.plan.moves) + len(self.left_out)
        return self.words if not self.plan.moves or len(self.plan.moves) < LEAST * whole else ""

    @property
    def words(self) -> str:
        """What is left out, in a sentence; empty if nothing is."""
        if not self.left_out:
            return ""
        name, why = next(iter(self.left_out.items()))
        more = f", and {len(self.left_out) - 1} more" if len(self.left_out) > 1 else ""
        whole = len(self.plan.moves) + len(self.left_out)
        share = f"{len(self.left_out)} of {count(whole, 'move')} left out"
        return f"{share}: the cluster changed since the plan was made ({name} {why}{more})"


def taken(plan: RecordedPlan, turn: Turn, observation: Observation, freeze: Sequence[str] = ()) -> TakenPlan:
    """What the names of a handed-in plan mean now: its moves by identity, and the state that a verification compares with.

    What is frozen is never moved, whoever made the plan.
    """
    number = {state.name: c for c, state in enumerate(observation.containers)}
    machine = {state.name: m for m, state in enumerate(observation.machines)}
    left_out = dict(_changes(plan, observation, number, machine))
    if freeze:
        frozen = matching_any(observation.snapshot.cluster, freeze, "to freeze")
        there = (move.container for move in plan.moves if move.container in number)
        left_out |= {name: "is frozen" for name in there if frozen[number[name]]}
    moved = {move.container for move in plan.moves} - left_out.keys()
    batches = tuple(
        tuple(Step(Action(action), number[name], machine[where]) for action, name, where in batch if name in moved)
        for batch in plan.batches
    )
    written = written_plan(turn, observation, Plan(batches=batches), {move.container: move.why for move in plan.moves})
    known = replace(plan, turn=turn.id, fingerprint=written.fingerprint, moves=written.moves)
    return TakenPlan(plan=replace(known, batches=written.batches, before=written.before), left_out=left_out)


def _changes(
    plan: RecordedPlan, observation: Observation, number: Mapping[str, int], machine: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Containers whose steps cannot be made any more, with why."""
    needed: dict[str, set[str]] = {}
    for _, name, where in (step for batch in plan.batches for step in batch):
        needed.setdefault(name, set()).add(where)
    for move in plan.moves:
        name = move.container
        gone = sorted(needed[name] - machine.keys())
        if name not in number:
            yield name, "is gone"
        elif gone:
            yield name, f"would need machine '{gone[0]}', which is not there"
        elif (runs_on := observation.containers[number[name]].machine) != move.source:
            yield name, f"runs on '{runs_on}'" if runs_on else "has no machine"
