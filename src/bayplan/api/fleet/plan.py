"""`plan_fleet`: a plan for each of many clusters, and one budget of moves for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Generic, TypeVar, Unpack

from bayplan.api.answer import PathLike
from bayplan.api.control import Control, ParallelKeywords
from bayplan.api.fleet.answer import FleetAnswer, fleet_answer
from bayplan.api.fleet.cluster_jobs import (
    FRONT,
    ClusterFault,
    ClusterFront,
    ClusterPlan,
    ClusterTask,
    cluster_front,
    cluster_plan,
)
from bayplan.api.fleet.division import Envelope, GainAt, divide, divide_evenly, envelope, total_gain
from bayplan.api.planning.plan import cores
from bayplan.api.planning.question import goal_of
from bayplan.api.problem import move_limit
from bayplan.engine import Engine, EngineLostError, Job, LossNotes, engine_of
from bayplan.errors import UsageError
from bayplan.formats.clusters import ClusterFleet, FleetCluster, read_clusters
from bayplan.model import Budget, Clock, Progress, Tick
from bayplan.model.goal import Goal
from bayplan.model.interrupt import set_aside, stoppable
from bayplan.report.fleet.tables import RANKS, ClusterRow, ClusterStatus, MoveDivision

T = TypeVar("T")

GRACE = 1.25, 10.0  # times the seconds, and more for each cluster of a worker: what has not ended by then is given up
KERNELS = (  # that all goals need
    ("place", "ca-wfd"),
    ("rebalance", "search"),
    ("migrate", "waves"),
    ("collocate", "best"),
    ("collocate", "best, in counts"),
    ("collocate", "best, by search"),
)


class FleetKeywords(ParallelKeywords, total=False):
    """What may be said beside the goal and the moves."""

    min_gain: float  # weighted shares; a plan of a cluster that gains less and is not urgent is not worth it


def read_fleet(path: PathLike) -> ClusterFleet:
    """The fleet of clusters in a file: names, files and settings. The clusters' files are read when they are planned.

    >>> import bayplan as bp
    >>> [cluster.name for cluster in bp.read_fleet("clusters.yaml").clusters]
    ['berlin', 'paris', 'oslo']
    """
    return read_clusters(path)


def plan_fleet(
    fleet: ClusterFleet | PathLike,
    *,
    goal: Goal | str | None = None,
    seconds: float | None = None,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
    max_moves: int | str | None = None,
    alive: float = 0.75,
    pages: bool = False,
    **options: Unpack[FleetKeywords],
) -> FleetAnswer:
    """A plan for each cluster of a fleet, and what all of them gain together.

    Each cluster is read and planned by itself, as many at a time as `threads` says, where `engine` says. A cluster that cannot
    be read or planned does not stop the others: it is in the answer with its error.

    - `fleet`: a file, or what `bp.read_fleet` gives;
    - `goal`, `weights`: of clusters that state no goal; as in `bp.plan`;
    - `seconds`: wall time for all clusters; by default each has as many as in `bp.plan`;
    - `max_moves`: of all clusters together, a number or a share of what runs. They are divided where they bring most: by the
      fronts of the clusters, each gain by the containers that run. No cluster moves more than its own limit, or its goal's;
    - `alive`: the share of each workload that runs at any time on the way;
    - `pages`: also make an HTML page for each cluster.

    >>> import bayplan as bp
    >>> answer = bp.plan_fleet("clusters.yaml", max_moves=3, budget=bp.Budget(iterations=2_000), engine="here")
    >>> answer.moved <= 3, len(answer.plans)
    (True, 3)
    """
    fleet = fleet if isinstance(fleet, ClusterFleet) else read_clusters(fleet)
    control = Control.of(seconds or 0.0, seed, {"threads": cores(), **options}).after_compiling(*KERNELS)
    most = fleet.max_moves if max_moves is None else max_moves
    settings = {"alive": alive, "min_gain": options.get("min_gain", 0.0)}
    tasks = tuple(
        ClusterTask(
            cluster=cluster,
            goal=_goal(cluster, fleet, goal, weights, shared=most is not None),
            seed=seed + number,
            budget=None if control.budget is None else replace(control.budget, threads=1),
            options=settings,
            pages=pages,
        )
        for number, cluster in enumerate(fleet.clusters)
    )
    clock = replace(control.clock, budget=Budget(seconds=None if control.budget is not None else seconds))
    with stoppable() as stop, control.engine or engine_of("pool") as engine:
        run = FleetRun(tasks=tasks, engine=engine, workers=control.threads, clock=clock, progress=control.progress)
        division = None if most is None else run.divided(most)
        numbers = range(len(tasks)) if most is None else sorted(run.shares)
        hurry = stop.requested
        with set_aside() if hurry else nullcontext():  # fronts that are known are made into plans, without a further search
            run.make_plans(numbers, hurry=hurry)
        stopped = stop.requested
    rows = tuple(run.outcome(number) for number in range(len(tasks)))
    return fleet_answer(
        fleet,
        rows,
        division,
        control=control,
        notes=tuple(run.notes),
        goals=[task.goal.name for task in tasks],
        stopped=stopped,
    )


def _goal(
    cluster: FleetCluster, fleet: ClusterFleet, goal: Goal | str | None, weights: Mapping[str, float] | None, *, shared: bool
) -> Goal:
    """The goal of a cluster: its own, else the caller's, else the fleet's."""
    wanted = goal_of(cluster.goal or goal or fleet.goal or "steady", weights)
    if shared and wanted.empty_machines:
        raise UsageError(
            f"cluster '{cluster.name}': goal '{wanted.name}' has no front to divide moves by; "
            "expected another goal, or a max_moves for each cluster and none for the fleet"
        )
    return wanted


@dataclass(slots=True, kw_only=True, eq=False)
class FleetRun:
    """The work for a fleet, and what is known so far of each cluster, by its number."""

    tasks: Sequence[ClusterTask]
    engine: Engine
    workers: int
    clock: Clock
    progress: Progress
    fronts: dict[int, ClusterFront] = field(default_factory=dict)
    shares: dict[int, int] = field(default_factory=dict)  # moves of each cluster, where they are divided
    plans: dict[int, ClusterPlan] = field(default_factory=dict)
    faults: dict[int, ClusterFault] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def divided(self, most: int | str) -> MoveDivision:
        """Find the fronts and divide the moves by them."""
        at_most = None if str(most).endswith("%") else move_limit(most, 0)

        def job(number: int, seconds: float | None) -> Job[Any]:
            task = self.tasks[number]
            return Job(name=f"front of cluster {task.cluster.name}", call=cluster_front, arguments=(task, at_most, seconds))

        stage = Stage(label="front of", share=FRONT, numbers=range(len(self.tasks)), job=job)
        for number, front in self._answers(stage):
            self.fronts[number] = front
        known = sorted(self.fronts)
        fronts = [self.fronts[number] for number in known]
        total = move_limit(most, sum(front.running for front in fronts))
        sizes = [front.running * self.tasks[number].cluster.weight for number, front in zip(known, fronts, strict=True)]
        envelopes = [_weighted_envelope(front, size / (sum(sizes) or 1.0)) for front, size in zip(fronts, sizes, strict=True)]
        chosen, even = divide(envelopes, total), divide_evenly([front.running for front in fronts], total)
        self.shares = dict(zip(known, chosen, strict=True))
        names = [self.tasks[number].cluster.name for number in known]
        return MoveDivision(
            total=total,
            chosen=dict(zip(names, chosen, strict=True)),
            even=dict(zip(names, even, strict=True)),
            gain=_by_rank(envelopes, chosen),
            even_gain=_by_rank(envelopes, even),
        )

    def make_plans(self, numbers: Sequence[int], *, hurry: bool) -> None:
        """Plan these clusters, each within its share of the moves if they are divided; in a hurry without a search."""

        def job(number: int, seconds: float | None) -> Job[Any]:
            task = self.tasks[number]
            arguments = (task, self.shares.get(number), self.fronts.get(number), 0.0 if hurry else seconds)
            return Job(name=f"plan of cluster {task.cluster.name}", call=cluster_plan, arguments=arguments)

        for number, plan in self._answers(Stage(label="plan of", share=1.0, numbers=numbers, job=job)):
            self.plans[number] = plan

    def _answers(self, stage: "Stage[T]") -> Iterator[tuple[int, Any]]:
        """The cluster and what was found for it, as they come; what is wrong with clusters is kept beside."""
        clock = replace(self.clock, budget=self.clock.budget.share(stage.share))
        left, slots, done = clock.left(), self.engine.slots(self.workers), 0
        hard = None if left is None else GRACE[0] * left + GRACE[1] * ceil(len(stage.numbers) / slots)
        losses = LossNotes()
        try:
            jobs = stage.jobs(clock, slots)
            for position, value in self.engine.stream(jobs, workers=self.workers, seconds=hard, lost=losses.report):
                number, done = stage.numbers[position], done + 1
                words = f"{stage.label} {self.tasks[number].cluster.name} ({done:,} of {len(stage.numbers):,})"
                self.progress(Tick(stage=words, done=done / len(stage.numbers)))
                if isinstance(value, ClusterFault):
                    self.faults[number] = value
                else:
                    yield number, value
        except EngineLostError as error:
            self.notes.append(f"not all clusters were planned: {error}")
        self.notes += losses.notes

    def outcome(self, number: int) -> ClusterPlan:
        """What is known of a cluster in the end."""
        if number in self.plans:
            return self.plans[number]
        task, fault = self.tasks[number], self.faults.get(number)
        status = ClusterStatus.NOT_REACHED if fault is None else ClusterStatus.FAILED
        why = "the time ended, or it was stopped, before its plan was made" if fault is None else fault.text
        row = ClusterRow(
            name=task.cluster.name, file=task.cluster.source, status=status, goal=task.goal.name, headline=why, limit=None
        )
        return ClusterPlan(row=row)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage(Generic[T]):
    """Jobs of one kind, one for each of some clusters."""

    label: str
    share: float  # of all seconds, by which it must have ended
    numbers: Sequence[int]
    job: Callable[[int, float | None], Job[T]]  # of a cluster, within seconds

    def jobs(self, clock: Clock, slots: int) -> Iterator[Job[T]]:
        """A job when a worker is free for it: each has its part of the time left."""
        for position, number in enumerate(self.numbers):
            rounds = ceil((len(self.numbers) - position) / slots)
            yield self.job(number, clock.left(1.0 / rounds))


def _weighted_envelope(front: ClusterFront, weight: float) -> Envelope:
    """The envelope of a front whose last rank counts by the size of the cluster."""
    return envelope(GainAt(point.moves, (*point.gain[:-1], weight * point.gain[-1])) for point in front.points)


def _by_rank(envelopes: Sequence[Envelope], shares: Sequence[int]) -> dict[str, float]:
    gain = total_gain(envelopes, shares) or tuple(0.0 for _ in RANKS)
    return dict(zip(RANKS, gain, strict=True))
