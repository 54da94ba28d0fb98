"""Why each container of a plan moves: what it gains, in words, and a short reason to sort by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.check import Violation
from bayplan.model import Cluster, FloatArray, Objective, Placement, Term
from bayplan.report.amounts import fullness, percent
from bayplan.report.change_page.data import MoveNote
from bayplan.score.gmrp import machine_overload
from bayplan.score.goal.move_gains import MoveGain
from bayplan.score.utilisation import fullest_shared
from bayplan.words import first_names

LABELS: Mapping[Term, str] = {
    Term.OVERLOAD: "load above safety",
    Term.AFFINITY: "local traffic",
    Term.COMMUNICATION: "local traffic",
    Term.UTILISATION: "balance",
    Term.BALANCE: "free amounts in proportion",
    Term.TARGETS: "free amounts in proportion",
    Term.MOVE_COST: "move costs",
    Term.MOVES: "price of the move",
}
Place = tuple[str, int, tuple[str, ...]]
DRAIN, REPAIR, ROOM = "drain", "repairs a rule", "makes room"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveContext:
    """What the reasons of a plan's moves refer to."""

    cluster: Cluster
    before: Placement
    after: Placement
    objective: Objective
    violated: frozenset[Place]  # rules that are violated before, each with its place
    needed_for: Mapping[tuple[int, ...], Violation | None]  # members of a move that gains nothing by itself -> what it prevents
    closed: frozenset[int] = frozenset()  # machines that must be emptied


def move_notes(context: MoveContext, gains: Sequence[MoveGain]) -> tuple[MoveNote, ...]:
    """One note for each container that moves, in the order of the containers."""
    writer = _Writer(context)
    notes = [note for gain in gains for note in writer.notes(gain)]
    return tuple(sorted(notes, key=lambda note: note.container))


class _Writer:
    def __init__(self, context: MoveContext) -> None:
        self.context = context
        self.full: list[FloatArray] = [
            fullest_shared(context.cluster, placement) for placement in (context.before, context.after)
        ]
        self.was_hot = np.asarray(machine_overload(context.cluster, context.before).any(axis=1), dtype=np.bool_)

    def notes(self, move: MoveGain) -> list[MoveNote]:
        """The notes of the containers of one move."""
        context = self.context
        gain = self._weighted(move)
        net = sum(value for label, value in gain.items() if label != LABELS[Term.OVERLOAD])
        reason = self._reason(move, gain)
        notes = []
        for c in move.members:
            source, target = int(context.before.machine_of[c]), int(context.after.machine_of[c])
            why = self._sentence(move, c, gain, reason)
            notes.append(MoveNote(container=c, source=source, target=target, gain=gain, net=net, why=why, reason=reason))
        return notes

    def _weighted(self, move: MoveGain) -> dict[str, float]:
        """Gains by label, each term times its weight, but load above safety in largest machines; what is nothing is left out."""
        gain: dict[str, float] = {}
        for term, value in move.gain.items():
            weight = self.context.objective.weight.get(term, 0.0)
            worth = (weight > 0) * value if term is Term.OVERLOAD else weight * value
            if worth:
                gain[LABELS[term]] = gain.get(LABELS[term], 0.0) + worth
        return gain

    def _reason(self, move: MoveGain, gain: Mapping[str, float]) -> str:
        if any(int(self.context.before.machine_of[c]) in self.context.closed for c in move.members):
            return DRAIN
        if move.members in self.context.needed_for:
            prevented = self.context.needed_for[move.members]
            return REPAIR if prevented is not None and prevented.place in self.context.violated else ROOM
        rest = {label: value for label, value in gain.items() if label != LABELS[Term.MOVES]}
        if rest.get(LABELS[Term.OVERLOAD], 0.0) > 0:
            return LABELS[Term.OVERLOAD] if self._was_hot(move) else ROOM
        return max(rest, key=lambda label: rest[label], default=ROOM)

    def _was_hot(self, move: MoveGain) -> bool:
        return any(self.was_hot[self.context.before.machine_of[c]] for c in move.members)

    def _sentence(self, move: MoveGain, c: int, gain: Mapping[str, float], reason: str) -> str:
        context = self.context
        machine = context.cluster.machines.name
        source, target = int(context.before.machine_of[c]), int(context.after.machine_of[c])
        parts = []
        if reason == DRAIN:
            parts.append(f"{machine[source]} is to be emptied")
        elif reason in (REPAIR, ROOM):
            prevented = context.needed_for.get(move.members)
            parts.append(
                f"{reason}: else {prevented}" if prevented is not None else f"makes room for others on {machine[source]}"
            )
        if gain.get(LABELS[Term.OVERLOAD], 0.0) > 0 and self.was_hot[source] and reason != DRAIN:
            parts.append(f"{machine[source]} is above safety ({self._change(source)})")
        local = sorted((w for w in move.local if move.local[w] > 0), key=lambda w: -move.local[w])
        if local:
            names = first_names([context.cluster.workloads.name[w] for w in local])
            share = sum(move.local.values())
            parts.append(f"closer to {names}: {percent(share)} of all traffic" if share > 0 else f"closer to {names}")
        if gain.get(LABELS[Term.UTILISATION], 0.0) > 0 and not local and reason == LABELS[Term.UTILISATION]:
            parts.append(", ".join(f"{machine[m]} {self._change(m)}" for m in (source, target)))
        return "; ".join(parts) or reason

    def _change(self, m: int) -> str:
        """'96 % -> 79 %': the fullest resource of a machine before and after."""
        return f"{fullness(float(self.full[0][m]))} -> {fullness(float(self.full[1][m]))}"
