"""The ledger: what is done can be taken back, and what it allows is what the naive state check allows."""

import numpy as np
import pytest
from tests.builders.migrations import small

from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE, Ledger
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.units import units_of
from bayplan.model import Migration

SEEDS = range(60)


def state(ledger: Ledger) -> tuple[object, ...]:
    """Everything that a step changes, rounded where sums of floats are not exact."""
    rows = {id(row): row for some in ledger.rows.counted.values() for row in some}
    wide = {id(one): one for some in ledger.rows.wide.values() for one in some}
    return (
        ledger.high.tolist(),
        list(ledger.first),
        list(ledger.second),
        list(ledger.alive),
        dict(ledger.held),
        dict(ledger.booked),
        set(ledger.charged),
        [({g: n for g, n in row.high.items() if n}, {g: n for g, n in row.low.items() if n}) for row in rows.values()],
        [(one.running, one.changing) for one in wide.values()],
        [np.round(risk.mean, 6).tolist() + np.round(risk.variance, 6).tolist() for risk in ledger.rows.risks],
    )


def random_steps(course: Course, seed: int, most: int = 30) -> int:
    """Steps of random units, to their targets and elsewhere; how many were made."""
    rng = np.random.default_rng(seed)
    for _ in range(most):
        u, m = int(rng.integers(len(course.units))), int(rng.integers(len(course.on)))
        here = course.at[u]
        if course.units.fixed[u] or course.units.target[u] == NOWHERE:
            continue
        if here == NOWHERE or (m != here and u not in course.also):
            course.put(u, m)
        else:
            course.take(u, here)
    return len(course.ops)


def course_of(migration: Migration) -> Course:
    """A course at its start."""
    return Course(Ledger(migration), units_of(migration, MigrateOptions()))


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_taken_back_leave_nothing_behind(seed):
    course = course_of(small(seed))
    before = state(course.ledger), list(course.at), dict(course.also), set(course.pending), [set(on) for on in course.on]
    random_steps(course, seed)
    course.back_to(0)
    after = state(course.ledger), list(course.at), dict(course.also), set(course.pending), [set(on) for on in course.on]
    assert after == before


@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_reached_by_steps_is_the_state_built_from_what_runs(seed):
    migration = small(seed)
    course = course_of(migration)
    random_steps(course, seed)
    ledger, running = course.ledger, course.ledger.running
    built = Ledger(Migration(cluster=migration.cluster, start=running, after=migration.after, terms=migration.terms))
    assert built.alive == ledger.alive
    free = [r for r in range(ledger.high.shape[1]) if r not in {*ledger.joint.tolist(), *ledger.sequential.tolist()}]
    assert (built.high[:, free] == ledger.high[:, free]).all()


def test_some_of_these_walks_make_steps():
    assert sum(random_steps(course_of(small(seed)), seed) for seed in SEEDS) > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_withdrawn_within_a_batch_leaves_nothing_behind(seed):
    ledger = Ledger(small(seed))
    before = state(ledger)
    for c, m in enumerate(list(ledger.first)):
        if m != NOWHERE:
            ledger.delete(c, m, NOWHERE)
            ledger.withdraw()
        for other in range(len(ledger.limit)):
            if other != m and ledger.may_create(c, other):
                ledger.create(c, other)
                ledger.withdraw()
    assert state(ledger) == before
