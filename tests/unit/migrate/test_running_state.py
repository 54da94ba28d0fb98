"""The running state: steps can be taken back, and the state reached is the state built from what runs."""

import numpy as np
import pytest
from tests.builders.migrations import small

from bayplan.migrate.move_units import move_units
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import StepSequence
from bayplan.model import UNPLACED, Migration

SEEDS = range(60)


def contents(state: RunningState) -> tuple[object, ...]:
    """Everything that a step changes, rounded where sums of floats are not exact."""
    counts = {id(count): count for listed in state.rules.counted_in.values() for count in listed}
    spreads = {id(spread): spread for listed in state.rules.spread.values() for spread in listed}
    return (
        state.high.tolist(),
        list(state.first),
        list(state.second),
        list(state.alive),
        dict(state.held),
        dict(state.reserved),
        set(state.charged),
        [({g: n for g, n in count.high.items() if n}, {g: n for g, n in count.low.items() if n}) for count in counts.values()],
        [(spread.running, spread.changing) for spread in spreads.values()],
        [np.round(total.mean, 6).tolist() + np.round(total.variance, 6).tolist() for total in state.rules.confidence],
    )


def random_steps(sequence: StepSequence, seed: int, limit: int = 30) -> int:
    """Steps of random units, to their targets and elsewhere; how many were made."""
    rng = np.random.default_rng(seed)
    for _ in range(limit):
        u, m = int(rng.integers(len(sequence.units))), int(rng.integers(len(sequence.on)))
        here = sequence.at[u]
        if sequence.units.fixed[u] or sequence.units.target[u] == UNPLACED:
            continue
        if here == UNPLACED or (m != here and u not in sequence.second):
            sequence.create(u, m)
        else:
            sequence.delete(u, here)
    return len(sequence.steps)


def sequence_of(migration: Migration) -> StepSequence:
    """No steps yet."""
    return StepSequence(RunningState(migration), move_units(migration, MigrateOptions()))


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_taken_back_leave_nothing_behind(seed):
    sequence = sequence_of(small(seed))
    before = (
        contents(sequence.state),
        list(sequence.at),
        dict(sequence.second),
        set(sequence.pending),
        [set(on) for on in sequence.on],
    )
    random_steps(sequence, seed)
    sequence.back_to(0)
    after = (
        contents(sequence.state),
        list(sequence.at),
        dict(sequence.second),
        set(sequence.pending),
        [set(on) for on in sequence.on],
    )
    assert after == before


@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_reached_by_steps_is_the_state_built_from_what_runs(seed):
    migration = small(seed)
    sequence = sequence_of(migration)
    random_steps(sequence, seed)
    state, running = sequence.state, sequence.state.running
    built = RunningState(Migration(cluster=migration.cluster, start=running, target=migration.target, policy=migration.policy))
    assert built.alive == state.alive
    free = [r for r in range(state.high.shape[1]) if r not in {*state.joint.tolist(), *state.sequential.tolist()}]
    assert (built.high[:, free] == state.high[:, free]).all()


def test_several_of_these_walks_make_steps():
    assert sum(random_steps(sequence_of(small(seed)), seed) for seed in SEEDS) > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_withdrawn_within_a_batch_leaves_nothing_behind(seed):
    state = RunningState(small(seed))
    before = contents(state)
    for c, m in enumerate(list(state.first)):
        if m != UNPLACED:
            state.delete(c, m, UNPLACED)
            state.withdraw()
        for other in range(len(state.limit)):
            if other != m and state.may_create(c, other):
                state.create(c, other)
                state.withdraw()
    assert contents(state) == before
