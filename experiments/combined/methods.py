"""Each method as one function from a snapshot to a placement, all of them with the same seconds of one core."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import bayplan as bp
from bayplan.api.migrate import MigrationAnswer
from bayplan.api.problem import move_limit
from bayplan.decide.collocate.subproblem import movable
from bayplan.errors import UsageError
from bayplan.model import UNPLACED, Objective, Placement, Snapshot, Term, ints, relabelled, singled_out
from bayplan.model.problem import Problem
from experiments.combined.kept_moves import best_moves
from experiments.combined.rebalancer_answer import rebalancer
from experiments.combined.settings import ALIVE, ALL, BEST, CONFIDENCE, LOCAL, PACK, PLANS, RASA, REBALANCER, START, SWEEP, Cell
from experiments.results import commit

OWN_CLOCK = (RASA, REBALANCER)  # their solvers look at the wall clock: they get more of it where others use the machine
FEWEST = 0.1  # of the containers with traffic may move: else a method cannot be asked
TRIES = 3  # until they have had their seconds of the processor
ENDED = 0.8  # of the wall clock: a method that takes less has ended by itself
SPIN = 1.0  # seconds of the processor to see how long they take


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """A placement, how much of the processor it took, and the order of its moves where the method finds one."""

    placement: Placement
    cpu: float
    migration: MigrationAnswer | None = None


def answered(cell: Cell, snapshot: Snapshot) -> Answered:
    """The answer of a cell's method."""
    began = time.process_time()
    found = METHODS[cell.method](cell, snapshot)
    return found if found.cpu else replace(found, cpu=time.process_time() - began)


def _start(cell: Cell, snapshot: Snapshot) -> Answered:
    return Answered(placement=snapshot.placement, cpu=0.0)


def _plan(cell: Cell, snapshot: Snapshot) -> Answered:
    goal = PLANS[cell.method]
    answer = bp.plan(snapshot, goal=goal, max_moves=cell.cap, seconds=cell.seconds, seed=cell.seed, alive=ALIVE, threads=1)
    return Answered(placement=answer.placement, cpu=0.0, migration=answer.migration)


def _best(cell: Cell, snapshot: Snapshot) -> Answered:
    expect_some_to_move(snapshot)
    answer = bp.collocate(snapshot, max_moves=cell.cap, seconds=cell.seconds, seed=cell.seed, threads=1, engine="here")
    return Answered(placement=answer.placement, cpu=0.0)


def _search_local(cell: Cell, snapshot: Snapshot) -> Answered:
    """Local traffic alone by the search that knows all rules: for clusters whose rules `collocate` does not know."""
    alone = snapshot.objective.with_weights({Term.AFFINITY: 1.0})
    how = {"method": "search", "objective": alone, "max_moves": cell.cap}
    answer = bp.rebalance(snapshot, seconds=cell.seconds, seed=cell.seed, threads=1, **how)  # type: ignore[arg-type]
    return Answered(placement=answer.placement, cpu=0.0)


def _sweep(cell: Cell, snapshot: Snapshot) -> Answered:
    how = {"method": SWEEP, "objective": Objective.default(snapshot.cluster), "max_moves": cell.cap}
    answer = bp.rebalance(snapshot, seconds=cell.seconds, seed=cell.seed, threads=1, **how)  # type: ignore[arg-type]
    return Answered(placement=answer.placement, cpu=0.0)


def _pack(cell: Cell, snapshot: Snapshot) -> Answered:
    """All containers packed anew, then replicas renamed so that as few as possible move."""
    nowhere = Placement(machine_of=ints(np.full(len(snapshot.placement.machine_of), UNPLACED)))
    empty = replace(snapshot, placement=nowhere)
    answer = bp.pack(empty, confidence=CONFIDENCE, seconds=cell.seconds, seed=cell.seed, threads=1)
    return Answered(placement=renamed(snapshot, answer.placement), cpu=0.0)


def _rasa(cell: Cell, snapshot: Snapshot) -> Answered:
    """RASA's answer, or as many of its moves as may be made."""
    expect_some_to_move(snapshot)
    whole, cpu = _kept_rasa(cell, snapshot)
    if cell.cap == ALL:
        return Answered(placement=whole, cpu=cpu)
    objective = snapshot.objective.with_weights({Term.AFFINITY: 1.0})
    limit = move_limit(cell.cap, len(snapshot.placement.placed))
    return Answered(placement=best_moves(snapshot.cluster, snapshot.placement, whole, objective, limit), cpu=cpu)


def _kept_rasa(cell: Cell, snapshot: Snapshot) -> tuple[Placement, float]:
    """RASA's own answer, found once for all limits, and what it took."""
    folder = Path(tempfile.gettempdir()) / "bayplan-combined"
    path = folder / f"{cell.cluster}-{cell.seed}-{cell.seconds:g}-{commit()}.npz"
    if not path.is_file():
        placement, cpu = _rasa_with_its_seconds(cell, snapshot)
        folder.mkdir(exist_ok=True)
        np.savez(path, machine_of=renamed(snapshot, placement).machine_of, cpu=cpu)
    kept = np.load(path)
    return Placement(machine_of=ints(kept["machine_of"])), float(kept["cpu"])


def _rasa_with_its_seconds(cell: Cell, snapshot: Snapshot) -> tuple[Placement, float]:
    """Asked again with more of the wall clock if that gave it less of the processor than the others have."""
    stretch = contention()
    for _ in range(TRIES):
        began, used = time.monotonic(), time.process_time()
        seconds = cell.seconds * stretch
        answer = bp.collocate(snapshot, method=RASA, seconds=seconds, seed=cell.seed, threads=1, engine="here")
        cpu = time.process_time() - used
        if cpu >= cell.seconds or time.monotonic() - began < ENDED * seconds:
            break
        stretch *= 1.3 * cell.seconds / max(1.0, cpu)
    return answer.placement, cpu


def _rebalancer(cell: Cell, snapshot: Snapshot) -> Answered:
    """Its answer; asked again with more of the wall clock if that gave it less of the processor than the others have."""
    limit, stretch = move_limit(cell.cap, len(snapshot.placement.placed)), contention()
    for _ in range(TRIES):
        found = rebalancer(snapshot, max_moves=limit, seconds=cell.seconds * stretch, seed=cell.seed)
        if found.ended or found.cpu >= cell.seconds:
            break
        stretch *= 1.3 * cell.seconds / max(1.0, found.cpu)
    return Answered(placement=renamed(snapshot, found.placement), cpu=found.cpu)


METHODS: Mapping[str, Callable[[Cell, Snapshot], Answered]] = {
    START: _start,
    **dict.fromkeys(PLANS, _plan),
    BEST: _best,
    LOCAL: _search_local,
    SWEEP: _sweep,
    PACK: _pack,
    RASA: _rasa,
    REBALANCER: _rebalancer,
}


def expect_some_to_move(snapshot: Snapshot) -> None:
    """UsageError if `collocate` must hold all containers that have traffic, for rules that it does not know.

    It would return the start then, which says nothing about how good it is.
    """
    traffic, problem = snapshot.cluster.traffic, Problem.of(snapshot)
    talks = np.isin(snapshot.cluster.containers.workload, np.r_[traffic.a, traffic.b])
    free = int((movable(problem) & talks).sum())
    if free < FEWEST * talks.sum():
        raise UsageError(
            f"it holds what interference rules name: of {int(talks.sum()):,} containers with traffic {free:,} may move"
        )


def renamed(snapshot: Snapshot, after: Placement) -> Placement:
    """Interchangeable replicas renamed so that as few as possible move."""
    cluster = snapshot.cluster
    return relabelled(after, snapshot.placement, cluster.containers.workload, singled_out(cluster))


def contention() -> float:
    """Seconds of the wall for one of the processor, now."""
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < SPIN:
        sum(range(1000))
    return max(1.0, (time.monotonic() - began) / SPIN)


def on_processor_time(method: str) -> None:
    """From now on this process counts seconds of its processor: others that use the machine take nothing from a method."""
    if method not in OWN_CLOCK:
        time.perf_counter = time.process_time
