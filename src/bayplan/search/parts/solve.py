"""Parts solved one by one, anywhere, and merged; then once more over their borders.

First every part is solved by itself. Then machines are divided anew, so that those come together between whose old parts most
traffic is left, and are solved again from where the first round ended. The referee looks at what each part returns, and at the
whole after each round. With a budget of iterations the answer is the same on every engine and with any number of workers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bayplan.check import check
from bayplan.engine import Engine, EngineLostError, Job, LossNotes
from bayplan.model import (
    UNPLACED,
    Budget,
    Clock,
    IntArray,
    Placement,
    Progress,
    Tick,
    Transient,
    ints,
    relabelled,
    silent,
    singled_out,
)
from bayplan.model.interrupt import stop_requested
from bayplan.model.problem import Problem
from bayplan.score.terms import weighted
from bayplan.search.parts.divide import divide
from bayplan.search.parts.divided_moves import divided_moves
from bayplan.search.parts.part import part_of
from bayplan.search.parts.part_rules import RuleIndex

# Containers. The search in counts keeps four tables (machine, workload) for two threads: 0.4 GB where M2 has 150,000 containers
# (the process peaks at 0.9 GB), 16 GB at six times M2. Memory and the time to set them up grow with the square of the size.
PARTS_FROM = 200_000
PART_SIZE = 40_000  # containers of a part, about
MOST_PARTS = 10_000
FIRST = 0.7  # of the seconds and iterations, for the parts by themselves; what remains is for their borders
FIRST_MOVES = 0.9  # of the moves, likewise
ROUNDING = 1 + 1e-9
STAGES = "solving parts", "solving over the borders of parts"


class Solve(Protocol):
    """A method, as a function of a module: other processes call it."""

    def __call__(self, problem: Problem, *, budget: Budget, seed: int) -> Placement:
        """A placement that violates no rule more than the start does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSettings:
    """In how many parts, and where they are solved."""

    parts: int
    engine: Engine
    workers: int = 1


class SolvedInParts(NamedTuple):
    """The answer of all parts together."""

    placement: Placement
    notes: tuple[str, ...]  # what was done, for people


def number_of_parts(containers: int, wanted: int | None = None) -> int:
    """How many parts a problem of this size is solved in: as many as wanted, else one up to `PARTS_FROM` containers."""
    if wanted is not None:
        return max(1, min(wanted, MOST_PARTS))
    return 1 if containers <= PARTS_FROM else math.ceil(containers / PART_SIZE)


def solve_in_parts(
    problem: Problem, solve: Solve, settings: PartSettings, *, budget: Budget, seed: int, progress: Progress = silent
) -> SolvedInParts:
    """The best placement that parts find, first by themselves, then over their borders. Containers without a machine stay so."""
    rounds = _Rounds(problem, solve, settings, budget, seed, progress)
    with settings.engine:
        rounds.solve_parts(0)
        if rounds.may_cross_borders():
            rounds.solve_parts(1)
    return SolvedInParts(rounds.placement, tuple(rounds.notes))


class _Rounds:
    """The best placement so far, and the parts that it was last solved in."""

    def __init__(
        self, problem: Problem, solve: Solve, settings: PartSettings, budget: Budget, seed: int, progress: Progress
    ) -> None:
        self.problem, self.solve, self.settings, self.seed, self.progress = problem, solve, settings, seed, progress
        self.clock = budget.clock()
        self.placement = problem.start
        self.index = RuleIndex.of(problem.cluster, problem.start)
        self.part_of: IntArray | None = None  # (machine,)
        self.notes: list[str] = []
        self.lost = False

    def may_cross_borders(self) -> bool:
        """Is there a border, time, and no rule that charges a container on a machine of another part while it moves?"""
        if self.lost or stop_requested() or self.part_of is None or not self.part_of.any():
            return False
        return not any(isinstance(rule, Transient) for rule in self.problem.cluster.rules)

    def solve_parts(self, number: int) -> None:
        """One round: divide, solve, merge."""
        stage, cluster = STAGES[number], self.problem.cluster
        self.progress(Tick(stage=stage, done=0.0, solution=lambda: self.placement))
        sets = divide(cluster, self.placement, self.settings.parts, before=self.part_of)
        here = replace(self.problem, start=self.placement)
        index = replace(self.index, start=self.placement)
        machine_of = self.placement.machine_of.copy()
        jobs, losses, engine = _PartJobs(here, index, sets, self, number), LossNotes(), self.settings.engine
        try:
            answers = engine.stream(jobs, workers=self.settings.workers, lost=losses.report)
            for done, (n, answer) in enumerate(answers):
                machines, containers = jobs.taken.pop(n)
                machine_of[containers] = np.where(answer == UNPLACED, UNPLACED, machines[answer])
                self.progress(Tick(stage=stage, done=(done + 1) / len(sets), solution=lambda: Placement(machine_of=machine_of)))
        except EngineLostError as error:
            self.lost = True
            self.notes.append(f"not all parts were solved: {error}")
        self.notes += losses.notes
        self._keep_better(Placement(machine_of=ints(machine_of)))
        self.part_of = _numbered(sets, len(cluster.machines.name))
        what = "the machines were divided, and each part was solved by itself" if number == 0 else "solved over their borders"
        self.notes.append(f"in {len(sets)} parts: {what}")

    def _keep_better(self, merged: Placement) -> None:
        """Take what the parts make together, unless a rule is violated further or it costs more than what is known."""
        problem = self.problem
        known = {violation.place: violation.excess for violation in check(problem.cluster, self.placement, problem.before)}
        after = check(problem.cluster, merged, problem.before)
        if any(violation.excess > known.get(violation.place, 0.0) * ROUNDING for violation in after):
            self.notes.append("what parts made together violates a rule further, and was dropped")
            return
        old, new = (weighted(problem.cluster, each, problem.objective, problem.before) for each in (self.placement, merged))
        if (len(after), new) < (len(known), old):
            self.placement = merged


class _PartJobs:
    """The jobs of a round, each made when a worker is free for it: so few parts are in memory at a time."""

    def __init__(self, problem: Problem, index: RuleIndex, sets: Sequence[IntArray], rounds: _Rounds, number: int) -> None:
        self.problem, self.index, self.sets, self.rounds, self.number = problem, index, sets, rounds, number
        self.limits = _limits(problem, sets, FIRST_MOVES if number == 0 else 1.0)
        self.until = _end_of_round(rounds.clock, number)
        self.taken: dict[int, tuple[IntArray, IntArray]] = {}  # machines and containers of parts that are being solved

    def __iter__(self) -> Iterator[Job[npt.NDArray[np.int32]]]:
        for n, machines in enumerate(self.sets):
            part = part_of(self.problem, self.index, machines, max_moves=self.limits[n])
            self.taken[n] = part.machines, part.containers
            seed = self.rounds.seed + n + self.number * MOST_PARTS
            name = f"part {n + 1} of {len(self.sets)}"
            yield Job(
                name=name,
                call=solve_part,
                arguments=(self.rounds.solve, part.problem, self._budget(n, len(part.containers)), seed),
            )

    def _budget(self, n: int, containers: int) -> Budget:
        """Its share of the time that is left, and of the iterations."""
        whole, settings = self.rounds.clock.budget, self.rounds.settings
        seconds = iterations = None
        if self.until is not None:
            at_a_time = min(settings.engine.slots(settings.workers), len(self.sets) - n)
            seconds = max(0.0, self.until - self.rounds.clock.seconds) * at_a_time / (len(self.sets) - n)
        if whole.iterations is not None:
            share = (FIRST if self.number == 0 else 1 - FIRST) * containers / max(1, len(self.problem.start.machine_of))
            iterations = max(1, round(whole.iterations * share))
        return Budget(seconds=seconds, iterations=iterations)


def solve_part(solve: Solve, problem: Problem, budget: Budget, seed: int) -> npt.NDArray[np.int32]:
    """(container,) the machines that a method finds for a part; its start, if that moves too many or violates more."""
    fixed = singled_out(problem.cluster) | problem.frozen
    placement = solve(problem, budget=budget, seed=seed)
    placement = relabelled(placement, problem.before, problem.cluster.containers.workload, fixed=fixed)
    known = {violation.place: violation.excess for violation in check(problem.cluster, problem.start, problem.before)}
    after = check(problem.cluster, placement, problem.before)
    too_many = problem.max_moves is not None and len(placement.moved_from(problem.before)) > problem.max_moves
    worse = any(violation.excess > known.get(violation.place, 0.0) * ROUNDING for violation in after)
    stayed = bool((placement.machine_of[problem.frozen] == problem.start.machine_of[problem.frozen]).all())
    kept = placement if stayed and not too_many and not worse else problem.start
    return kept.machine_of.astype(np.int32)


def _limits(problem: Problem, sets: Sequence[IntArray], share: float) -> list[int | None]:
    """The moves that each part may make, with those that were made in it before."""
    if problem.max_moves is None:
        return [None] * len(sets)
    before, start = problem.before.machine_of, problem.start.machine_of
    part = np.append(_numbered(sets, len(problem.cluster.machines.name)), UNPLACED)
    moved = (before != UNPLACED) & (before != start)
    own = np.bincount(part[start[moved & (part[before] == part[start])]], minlength=len(sets))
    further = max(0, problem.max_moves - int(moved.sum()))
    limits: list[int | None] = (own + divided_moves(problem, part[:-1], int(share * further))).tolist()
    return limits


def _end_of_round(clock: Clock, number: int) -> float | None:
    """By the clock; None without a limit of time."""
    seconds = clock.budget.seconds
    return None if seconds is None else seconds * (FIRST if number == 0 else 1.0)


def _numbered(sets: Sequence[IntArray], machines: int) -> IntArray:
    """(machine,) the number of its set."""
    number = np.zeros(machines, dtype=np.int64)
    for n, members in enumerate(sets):
        number[members] = n
    return number
