"""Ask for every failure whether the cluster survives it."""

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Unpack

from bayplan.api.capacity.answer import CapacityAnswer
from bayplan.api.capacity.failure_jobs import FailureJobs
from bayplan.api.capacity.further_machines import with_further_machines
from bayplan.api.control import Control, ParallelKeywords
from bayplan.decide.capacity import CapacityOptions
from bayplan.decide.capacity import survive as survive_failures
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import MACHINE, Cluster, Snapshot
from bayplan.model.failures import Failure, FailureOutcome, failures_of
from bayplan.model.interrupt import stoppable

SHOWN = 10  # failures in tables


def capacity(
    snapshot: Snapshot,
    *,
    survive: str = MACHINE,
    may_move: bool = False,
    like: str | None = None,
    alive: int = 1,
    seconds: float = math.inf,
    top: int = SHOWN,
    **keywords: Unpack[ParallelKeywords],
) -> CapacityAnswer:
    """Which failures the cluster survives: of every single machine, and of every group of each level (rack, zone, ...).

    A failure is survived if everything that ran there has a place elsewhere within all rules, while nothing else moves.
    Containers that are pinned to a failed machine, such as log agents, are lost with it and are not looked for elsewhere.

    - `survive`: the level that `answer.holds` is about: "machine", "rack", "zone", ...;
    - `may_move`: where there is no place otherwise, other containers may move;
    - `like`: the machine whose copies are tried where something has no place; one of the most common type if not given;
    - `alive`: workloads with fewer running replicas than this after a failure are named;
    - `seconds`: at most; if they end early, single machines, or else groups, have been looked at first;
    - `engine`: where failures are looked at, some in each job, `threads` jobs at a time; all in this process by default.

    >>> import bayplan as bp
    >>> answer = bp.capacity(bp.generate("boutique"))
    >>> answer.holds, answer.worst("machine").failure.group, answer.worst("machine").proof
    (False, 'a3', 'catalogue-db-0 fits on no machine that is left')
    """
    control = Control.of(seconds, 0, keywords)
    _expect_level(snapshot.cluster, survive)
    if alive < 0:
        raise UsageError(f"alive {alive}: expected a number of replicas, 0 or more")
    failures = list(failures_of(snapshot.cluster))
    control = control.after_compiling(("capacity", "failures"))
    with stoppable() as stop:
        options = CapacityOptions(may_move=may_move, alive=alive)
        jobs = None if control.engine is None else FailureJobs(control.engine, control.threads)
        with control.engine or nullcontext():
            outcomes, likes, tried = _outcomes(snapshot, _parts(failures, survive), like, options, control, jobs)
        interrupted = stop.requested
    return CapacityAnswer(
        snapshot=snapshot,
        survive=survive,
        may_move=may_move,
        alive=alive,
        outcomes=tuple(outcomes),
        failures=len(failures),
        likes=tuple(likes),
        tried=tuple(tried),
        seconds=control.seconds,
        interrupted=interrupted,
        top=top,
        job_notes=() if jobs is None else tuple(jobs.losses.notes),
    )


def _parts(failures: Sequence[Failure], level: str) -> list[list[Failure]]:
    """Single machines and groups apart, what was asked for first."""
    single = [failure for failure in failures if failure.level == MACHINE]
    groups = [failure for failure in failures if failure.level != MACHINE]
    return [single, groups] if level == MACHINE else [groups, single]


def _outcomes(
    snapshot: Snapshot,
    parts: Sequence[Sequence[Failure]],
    like: str | None,
    options: CapacityOptions,
    control: Control,
    jobs: FailureJobs | None,
) -> tuple[list[FailureOutcome], list[str], list[int]]:
    """The outcomes; the machines whose copies were tried, and how many of each.

    Each part has a state of its own: the many machines that may replace a zone would slow down single machines.
    """
    outcomes: list[FailureOutcome] = []
    likes: list[str] = []
    tried: list[int] = []
    for part in filter(None, parts):
        wider, spares = with_further_machines(snapshot, part, like)
        ask = survive_failures if jobs is None else jobs.survive
        done = ask(wider, part, spares, options, clock=control.clock, progress=control.progress)
        outcomes += [_renumbered(outcome, len(likes)) for outcome in done]
        likes += [snapshot.cluster.machines.name[spare.like] for spare in spares]
        tried += [len(spare.machines) for spare in spares]
        if len(done) < len(part):
            break
    return outcomes, likes, tried


def _renumbered(outcome: FailureOutcome, by: int) -> FailureOutcome:
    """The outcome with kinds of further machines that start at `by`."""
    further = outcome.further
    return outcome if further.kind < 0 else replace(outcome, further=replace(further, kind=further.kind + by))


def _expect_level(cluster: Cluster, name: str) -> None:
    names = [level.name for level in cluster.levels]
    if name not in names:
        expected = " or ".join(names)
        hint = did_you_mean(name, names)
        raise UsageError(f"survive '{name}': no such level in cluster '{cluster.name}'; expected {expected}{hint}")
    level = cluster.level(name)
    if not level.is_machine_level and len(set(level.group_of.tolist())) < 2:
        raise UsageError(f"survive '{name}': all machines are in one {name}; expected a level with at least two groups")
