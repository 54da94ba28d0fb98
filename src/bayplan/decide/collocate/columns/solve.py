"""Column generation from start to end ([RASA] Algorithm 1): patterns are generated, then chosen by the integer master."""

import time
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.columns.integer_master import Pattern, choose_patterns, kept_or_better, patterns_of
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, MachineTypes, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.greedy import greedy_counts
from bayplan.decide.collocate.subproblem import SolvedCounts, Subproblem, violations
from bayplan.engine.lazy import LazyEngine
from bayplan.model import FloatArray, IntArray
from bayplan.model.interrupt import stop_requested

MOST = 1_000  # patterns, of all types together, that are enumerated
GENERATING = 0.7  # of the time
PATTERNS = 6_000  # that are worth a choice


class _Limits(NamedTuple):
    ends: float  # a moment of `time.perf_counter`
    iterations: int | None
    seed: int
    engine: LazyEngine


def solve_columns(
    subproblem: Subproblem,
    *,
    seconds: float,
    seed: int = 0,
    request_of_others: IntArray | None = None,
    known: Sequence[Pattern] = (),
    engine: LazyEngine | None = None,
) -> IntArray:
    """The counts of `run_columns`."""
    return run_columns(
        subproblem, seconds=seconds, seed=seed, request_of_others=request_of_others, known=known, engine=engine
    ).counts


def run_columns(
    subproblem: Subproblem,
    *,
    seconds: float,
    seed: int = 0,
    request_of_others: IntArray | None = None,
    known: Sequence[Pattern] = (),
    iterations: int | None = None,
    engine: LazyEngine | None = None,
) -> SolvedCounts:
    """Counts (workload, machine) that violate nothing and gain no less than what runs now, if that violates nothing.

    `request_of_others` (resource,): what containers outside of the subproblem will need of its machines in total. `known`:
    patterns to begin with, beside those of a greedy pass and of what runs now. `iterations`: rounds of pricing, and nodes of
    each integer program, at most; the same number gives the same answer. `engine`: where types of machines are priced; it
    changes no answer but by its speed.
    """
    ends = time.perf_counter() + seconds
    start, ran = greedy_counts(subproblem), False
    now = subproblem.now if not violations(subproblem, subproblem.now) else np.zeros_like(subproblem.now)
    if len(subproblem.a) and subproblem.demand.any() and len(subproblem.machine):
        left = None if request_of_others is None else _left(subproblem, request_of_others)
        types = machine_types_of(subproblem)
        enumerated = enumerate_patterns(subproblem, types)
        known = [*patterns_of(types, start), *patterns_of(types, now), *known]
        ran = time.perf_counter() < ends
        limits = _Limits(ends, iterations, seed, engine or LazyEngine())
        patterns = _generated(subproblem, types, known, left, limits) if enumerated is None else enumerated
        seconds, exactly = ends - time.perf_counter(), enumerated is not None
        start = choose_patterns(types, patterns, subproblem, seconds, left, exactly=exactly, nodes=iterations)
    return SolvedCounts(kept_or_better(subproblem, start, now), solver_ran=ran)


def _left(subproblem: Subproblem, request_of_others: IntArray) -> FloatArray:
    """(resource,) what others leave free on all machines together."""
    left: FloatArray = np.maximum(1.0, (subproblem.free.sum(axis=0) - request_of_others).astype(np.float64))
    return left


def _generated(
    subproblem: Subproblem, types: MachineTypes, known: Sequence[Pattern], left: FloatArray | None, limits: _Limits
) -> list[Pattern]:
    """Patterns that are worth a choice, the best ones first."""
    master = AffinityMaster(subproblem=subproblem, types=types, left=np.zeros(0) if left is None else left)
    for t, pattern in known:
        master.add(t, pattern)
    began = time.perf_counter()
    ends = began + GENERATING * (limits.ends - began)
    rounds = PricingRounds(master=master, seed=limits.seed, engine=limits.engine, ends=ends)

    def stop() -> bool:
        return stop_requested() or time.perf_counter() > ends

    number = 0
    with limits.engine:
        while not rounds.done and not stop() and (limits.iterations is None or number < limits.iterations):
            rounds.price(stop)
            number += 1
    best = np.argsort(-master.reduced(master.solve()), kind="stable")[:PATTERNS].tolist()
    return [(master.type[n], master.pattern[n]) for n in best]


def enumerate_patterns(subproblem: Subproblem, types: MachineTypes) -> list[Pattern] | None:
    """All patterns but the empty ones, so that the integer master is exact; None if they may be more than `MOST`."""
    number = 1
    for demand in subproblem.demand.tolist():
        number *= demand + 1
        if number * len(types.number) > MOST:
            return None
    counts = np.array(list(product(*(range(demand + 1) for demand in subproblem.demand.tolist()))), dtype=np.int64)
    return [(t, counts[n]) for t in range(len(types.number)) for n in _fitting(subproblem, int(types.first[t]), counts)]


def _fitting(subproblem: Subproblem, m: int, counts: IntArray) -> list[int]:
    """The numbers of those patterns (pattern, workload) that fit on a machine and are not empty."""
    fits = (counts @ subproblem.request <= subproblem.free[m]).all(axis=1) & counts.any(axis=1)
    fits &= (counts @ subproblem.member.T.astype(np.int64) <= subproblem.set_free[:, m]).all(axis=1)
    fits &= ~(counts[:, ~subproblem.allow[subproblem.row_of, m]] > 0).any(axis=1)
    numbers: list[int] = np.flatnonzero(fits).tolist()
    return numbers
