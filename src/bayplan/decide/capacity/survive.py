"""Every failure in turn: can what ran there run elsewhere, what is lost, and how many further machines would help?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from bayplan.decide.capacity.failover_state import FailoverState
from bayplan.decide.capacity.move_others import make_place
from bayplan.decide.capacity.proofs import LiftedItems, Proof, spread_rules_lost
from bayplan.kernels.search.state import NOWHERE
from bayplan.model import MACHINE, UNPLACED, Clock, IntArray, Progress, Snapshot, Tick, ints
from bayplan.model.failures import Demand, Failure, FailureOutcome, FailureVerdict, FurtherMachines, Loss, Replacement
from bayplan.model.interrupt import stop_requested

SHOW_EVERY = 20  # failures between two signs of progress
PROOFS = 64  # that are looked at for one failure


class Spare(NamedTuple):
    """Further machines that do not run anything, and may be tried where something is left out."""

    like: int  # the machine that they copy
    machines: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityOptions:
    """What is asked of a failure."""

    may_move: bool = False  # may containers of other machines move, where there is no place otherwise?
    alive: int = 1  # workloads with fewer running replicas than this are named


def survive(
    snapshot: Snapshot,
    failures: Sequence[Failure],
    spares: Sequence[Spare],
    options: CapacityOptions,
    *,
    clock: Clock,
    progress: Progress,
) -> list[FailureOutcome]:
    """The outcome of each failure, in that order; fewer if the time ends or the user asks to stop.

    `spares` are machines of the snapshot on which nothing runs. They are closed, except where they are tried for what is left
    out: the first kind of which the machine that it copies has not failed.
    """
    if not failures:
        return []
    closed = np.concatenate([spare.machines for spare in spares]) if spares else np.zeros(0, dtype=np.int64)
    trial = _Trial(snapshot, ints(closed), spares, options)
    outcomes: list[FailureOutcome] = []
    for number, failure in enumerate(failures):
        if number and (clock.expired() or stop_requested()):
            break
        outcomes.append(trial.outcome(failure))
        if number % SHOW_EVERY == 0 or number + 1 == len(failures):
            progress(Tick(stage=f"failure {number + 1:,} of {len(failures):,}", done=(number + 1) / len(failures)))
    return outcomes


class _Trial:
    """One failure after the other, on one state."""

    def __init__(self, snapshot: Snapshot, closed: IntArray, spares: Sequence[Spare], options: CapacityOptions) -> None:
        self.snapshot, self.spares, self.options, self.closed = snapshot, spares, options, closed
        self.failed = FailoverState(snapshot, closed)
        self.above_before = self.failed.above_safety(ints(np.arange(len(snapshot.cluster.machines.name))))
        owner, placed = snapshot.cluster.containers.workload, snapshot.placement.placed
        self.running = np.bincount(owner[placed], minlength=len(snapshot.cluster.workloads.name))
        capacity = snapshot.cluster.machines.capacity.astype(np.float64)
        capacity[closed] = 0.0
        self.free_on = np.maximum(0.0, capacity - self.failed.load)  # (machine, resource)
        self.capacity, self.free = capacity.sum(axis=0), self.free_on.sum(axis=0)  # (resource,)

    def outcome(self, failure: Failure) -> FailureOutcome:
        """What this failure leads to; the state is the same afterwards."""
        self.failed.fail(failure.machines)
        loss, demand = self._loss(failure), self._demand(failure)
        rules_lost = tuple(spread_rules_lost(self.failed, self.options.may_move))
        all_placed = self._place() or (self.options.may_move and make_place(self.failed))
        replacement = self._replacement()
        proof, further = Proof("", 0), FurtherMachines()
        if not all_placed:
            self.failed.lift_again()
            proof = self._proof(failure)
            further = self._further(failure, replacement, proof.at_least)
        self.failed.recover()
        return FailureOutcome(
            failure=failure,
            verdict=_verdict(all_placed, replacement, bool(proof.text or rules_lost), bool(rules_lost)),
            loss=loss,
            demand=demand,
            replacement=replacement,
            rules_lost=rules_lost,
            proof=proof.text,
            further=further,
        )

    def _place(self) -> bool:
        """Place everything greedily in several ways; the way that leaves out least is the one that stays."""
        failed, best, fewest = (
            self.failed,
            self.failed.state.machine_of[self.failed.items].copy(),
            (len(self.failed.items) + 1, 0),
        )
        ways = [lambda: failed.place(emptiest_first=True), lambda: failed.place(emptiest_first=False)]
        for way in [*ways, *([failed.place_with_dependants] if failed.has_dependencies else [])]:
            failed.lift_again()
            way()
            left = (len(failed.left), failed.unmet + failed.too_close)
            if failed.all_placed:
                return True
            if left < fewest:
                best, fewest = failed.state.machine_of[failed.items].copy(), left
        failed.lift_again()
        failed.put(best)
        return False

    def _loss(self, failure: Failure) -> Loss:
        """What goes down with the machines."""
        cluster, failed = self.snapshot.cluster, self.failed
        pinned, others = failed.containers_of(failed.pinned), failed.containers_of(failed.items)
        workload, count = np.unique(cluster.containers.workload[np.r_[pinned, others]], return_counts=True)
        left = self.running[workload] - count
        enough_before = self.running[workload] >= self.options.alive
        lost = cluster.machines.capacity[failure.machines].sum(axis=0)
        return Loss(
            containers=len(pinned) + len(others),
            pinned=pinned,
            down=ints(workload[left == 0]),
            below=ints(workload[enough_before & (left < self.options.alive)]),
            share=float(np.max(lost / np.maximum(1.0, self.capacity), initial=0.0)),
        )

    def _demand(self, failure: Failure) -> Demand:
        """What has to be placed elsewhere and what is free there, of the resource that is scarcest."""
        cluster, failed = self.snapshot.cluster, self.failed
        capacity = self.capacity - cluster.machines.capacity[failure.machines].sum(axis=0)
        free = self.free - self.free_on[failure.machines].sum(axis=0)
        needs = cluster.request_of(failed.containers_of(failed.items)).sum(axis=0, dtype=np.float64)
        scarce = np.where(needs > 0, needs / np.maximum(1.0, free), 0.0)
        if not len(scarce):
            return Demand(resource=0, needed=0.0, free=0.0)
        r = int(np.argmax(scarce))
        whole = max(1.0, float(capacity[r]))
        return Demand(resource=r, needed=float(needs[r]) / whole, free=float(free[r]) / whole)

    def _replacement(self) -> Replacement:
        """Where everything runs now."""
        failed = self.failed
        left, moved = failed.containers_of(failed.left), failed.containers_of(ints(failed.moved))
        container = failed.containers_of(ints([*failed.items.tolist(), *failed.moved]))
        target = failed.machines_of(container)
        placed = target != UNPLACED
        touched = np.unique(target[placed])
        fullness, above = failed.fullness(touched), failed.above_safety(touched) & ~self.above_before[touched]
        fullest = int(np.argmax(fullness)) if len(touched) else -1
        return Replacement(
            container=ints(container[placed]),
            machine=ints(target[placed]),
            left_out=left,
            moved=moved,
            unmet=failed.unmet,
            too_close=failed.too_close,
            fullest=int(touched[fullest]) if fullest >= 0 else -1,
            fullness=float(fullness[fullest]) if fullest >= 0 else 0.0,
            above_safety=int(above.sum()),
        )

    def _spare_of(self, failure: Failure) -> int:
        """The first kind of further machines whose original does not share the failed group; of single machines the first."""
        if failure.level == MACHINE and self.spares:
            return 0
        failed = set(failure.machines.tolist())
        return next((number for number, spare in enumerate(self.spares) if spare.like not in failed), -1)

    def _proof(self, failure: Failure) -> Proof:
        """Why not everything has a place, and the most machines that any proof asks for; nothing has been placed."""
        number = self._spare_of(failure)
        lifted = LiftedItems(self.failed, self.spares[number].like if number >= 0 else -1)
        proofs = list(islice(lifted.proofs(self.options.may_move), PROOFS))
        text = proofs[0].text if proofs else ""
        return Proof(text, max((proof.at_least for proof in proofs), default=0))

    def _further(self, failure: Failure, then: Replacement, at_least: int) -> FurtherMachines:
        """How many further machines are enough: tried from scratch, and on top of what was found; nothing has been placed."""
        number = self._spare_of(failure)
        if number < 0:
            return FurtherMachines()
        failed, spare = self.failed, self.spares[number].machines
        failed.open(spare)
        used = []
        for from_scratch in (True, False):
            if not from_scratch:
                failed.lift_again()
                failed.put_containers(then.container, then.machine)
            failed.place(emptiest_first=False)
            if failed.all_placed:
                on = failed.state.machine_of[failed.items]
                used.append(len(np.unique(on[np.isin(on, spare) & (on != NOWHERE)])))
        failed.close(spare)
        return FurtherMachines(kind=number, enough=min(used) if used else None, at_least=at_least if used else 0)


def _verdict(all_placed: bool, then: Replacement, proven: bool, rules_lost: bool) -> FailureVerdict:
    if not all_placed or rules_lost:
        return FailureVerdict.IMPOSSIBLE if proven else FailureVerdict.NOT_FOUND
    if len(then.moved):
        return FailureVerdict.WITH_MOVES
    return FailureVerdict.ABOVE_SAFETY if then.above_safety else FailureVerdict.HOLDS
