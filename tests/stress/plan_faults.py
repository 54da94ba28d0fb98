"""What is wrong with a plan, by the naive rules, the naive scores and the naive watcher of every order of steps."""

from collections.abc import Iterator

import numpy as np
from tests.naive import scores as naive
from tests.naive.plan_watch import arrived, faults_on_the_way
from tests.stress.cases import Case
from tests.stress.outcomes import Outcome
from tests.stress.placement_faults import max_moves, must_stay, rule_faults, score_faults

from bayplan.api.planning.answer import PlanAnswer
from bayplan.model import UNPLACED, Snapshot

ROUNDING = 1e-9


def plan_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well."""
    answer, after = outcome.answer, outcome.solution
    snapshot: Snapshot = answer.snapshot
    before = snapshot.placement
    migration = answer.migration.request.migration
    yield from rule_faults(snapshot.cluster, after, before)
    yield from score_faults(snapshot, outcome)
    yield from faults_on_the_way(migration, answer.plan)
    changed = np.flatnonzero(after.machine_of != before.machine_of).tolist()
    if sorted(arrived(migration, answer.plan)) != changed:
        yield f"{len(changed)} containers change, {len(arrived(migration, answer.plan))} arrive"
    yield from _kept_faults(case, snapshot, outcome)
    old, new = (naive.overload_cost(snapshot.cluster, each, snapshot.objective) for each in (before, after))
    if answer.wanted.safety and not _first_rank(answer) and new > old + ROUNDING * max(1.0, old):
        yield f"overload {new}, before {old}"
    if len(answer.reasons) != answer.moved:
        yield f"{answer.moved} containers move, {len(answer.reasons)} have a reason"


def _first_rank(answer: PlanAnswer) -> bool:
    """Does it do something that comes before safety: place containers, empty machines, repair rules, also the goal's own?"""
    repairs = answer.figures.after.violated < answer.figures.before.violated
    return bool(answer.placed or answer.drained or repairs or answer.wanted.spread or answer.wanted.confidence is not None)


def _kept_faults(case: Case, snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    before, after = snapshot.placement.machine_of, outcome.solution.machine_of
    ran = before != UNPLACED
    if (after[ran] == UNPLACED).any():
        yield "a container lost its machine"
    stays = must_stay(case, snapshot)
    if (after[stays & ran] != before[stays & ran]).any():
        yield "what is to stay has moved"
    drained = {snapshot.cluster.machines.name.index(name) for name in outcome.answer.drained}
    forced = int(np.isin(before, list(drained)).sum()) if drained else 0
    most = max_moves(case, int(ran.sum()))
    moved = int((ran & (after != before)).sum())
    if most is not None and moved > most + forced:
        yield f"{moved} containers moved, at most {most} and {forced} may"
