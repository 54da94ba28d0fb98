"""Answers in turn: each starts where the one before ended, without churn or after a day of it.

`answered_again` asks RASA. `stepped` makes plans of at most 5 % of the containers: each by itself, or as a part of the way to a
target of as many moves as pay.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import bayplan as bp
from bayplan.api.planning.answer import PlanAnswer
from bayplan.model import Placement, Snapshot, ints, relabelled, singled_out
from bayplan.operate.simulated import SimulatedOrchestrator, preset
from bayplan.score.affinity import gained_affinity
from experiments.combined.methods import contention
from experiments.production.week_cells import CHURN, cluster_of
from experiments.production.week_settings import LOCAL, M3, SECONDS, STEADY, TINY

DAY = 86_400.0
RASA, BEST = "rasa", "best"
ITSELF, PART = "by itself", "a part of the way"
AT_ONCE = "5%"
LONG_ENOUGH = 15.0  # seconds of one core for an answer, about: RASA's solvers look at the wall clock
KEY_AGAIN = ("cluster", "method", "start", "number", "seed")
FIRST, OWN, AFTER_A_DAY = "original", "its own answer", "its own answer after a day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One answer in a row of answers."""

    cluster: str
    method: str
    start: str
    number: int
    seed: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        return (self.cluster, self.method, self.start, str(self.number), str(self.seed))


QUICK_RUNS = [Run(cluster=TINY, method=STEADY, start=PART, number=1)]


def again_runs() -> list[Run]:
    """RASA and the best method from the first placement, twice from their own answer, and after a day of churn."""
    order = ((FIRST, 1), (OWN, 2), (OWN, 3), (AFTER_A_DAY, 4))
    return [Run(cluster=M3, method=method, start=start, number=number) for method in (RASA, BEST) for start, number in order]


def step_runs() -> list[Run]:
    """Ten plans in turn, for two goals, each by itself and as a part of the way."""
    return [
        Run(cluster=M3, method=goal, start=way, number=number, seed=seed)
        for seed in (0, 2)
        for goal in (STEADY, LOCAL)
        for way in (ITSELF, PART)
        for number in range(1, 11)
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reached:
    """Where a run began and ended, and what it took."""

    before: Snapshot
    after: Placement
    cpu: float

    @property
    def end(self) -> Snapshot:
        """The cluster as the run leaves it."""
        return self.before.placed_as(self.after.machine_of)


def _row(reached: Reached) -> dict[str, str]:
    """Gained affinity before and after, and how many containers move: as answered, and if replicas are renamed."""
    cluster, before = reached.before.cluster, reached.before.placement
    renamed = relabelled(reached.after, before, cluster.containers.workload, fixed=singled_out(cluster))
    return {
        "before": f"{gained_affinity(cluster, before):.5f}",
        "after": f"{gained_affinity(cluster, reached.after):.5f}",
        "containers": str(len(before.placed)),
        "answered": str(len(reached.after.moved_from(before))),
        "moved": str(len(renamed.moved_from(before))),
        "cpu": f"{reached.cpu:.1f}",
    }


def answered_again(run: Run) -> dict[str, str]:
    """A row of week-again.csv."""
    return _row(_again(run))


@lru_cache(maxsize=4)
def _again(run: Run) -> Reached:
    """The answer of a run; the runs before it are made first, where this process has not made them yet."""
    snapshot = _start_of(run)
    seconds = LONG_ENOUGH * contention()
    used = time.process_time()
    answer = bp.collocate(snapshot, method=run.method, seconds=seconds, seed=run.seed, threads=1, engine="here")
    return Reached(before=snapshot, after=answer.placement, cpu=time.process_time() - used)


def _start_of(run: Run) -> Snapshot:
    if run.start == FIRST:
        return cluster_of(run.cluster)
    if run.start == AFTER_A_DAY:
        last = _again(replace(run, start=OWN, number=run.number - 1)).end
        orchestrator = SimulatedOrchestrator(last, settings=preset(CHURN), seed=run.seed)
        orchestrator.wait(DAY)
        return orchestrator.observe().snapshot
    return _again(replace(run, start=FIRST if run.number == 2 else OWN, number=run.number - 1)).end


def stepped(run: Run) -> dict[str, str]:
    """A row of week-steps.csv."""
    return _row(_step(run))


@lru_cache(maxsize=2)
def _step(run: Run) -> Reached:
    snapshot = cluster_of(run.cluster) if run.number == 1 else _step(replace(run, number=run.number - 1)).end
    plan = WAYS[run.start]
    used = time.process_time()
    answer = plan(run, snapshot)
    return Reached(before=snapshot, after=Placement(machine_of=ints(answer.placement.machine_of)), cpu=time.process_time() - used)


def _by_itself(run: Run, snapshot: Snapshot) -> PlanAnswer:
    return bp.plan(
        snapshot, goal=run.method, max_moves=AT_ONCE, seconds=SECONDS[run.cluster], seed=run.seed + run.number, threads=1
    )


def _part(run: Run, snapshot: Snapshot) -> PlanAnswer:
    return bp.plan(
        snapshot,
        goal=run.method,
        max_moves="100%",
        at_once=AT_ONCE,
        seconds=SECONDS[run.cluster],
        seed=run.seed + run.number,
        threads=1,
    )


WAYS: dict[str, Callable[[Run, Snapshot], PlanAnswer]] = {ITSELF: _by_itself, PART: _part}
