"""How often machines overflow, by drawing."""

import numpy as np
import pytest
from tests.builders.packings import packing

from bayplan.model import Placement, ints
from bayplan.score import monte_carlo
from bayplan.score.monte_carlo import Truncation, normal_draws, violation_rates

DRAWS = 40


def crowded(machines: int, seed: int):
    """Containers of five workloads, two of which never vary, on random machines; some machines stay empty."""
    cluster, _ = packing([20, 30, 10, 25, 200], [5, 40, 0, 9, 0], [9, 8, 7, 6, 1], capacity=[60 + m for m in range(machines)])
    rng = np.random.default_rng(seed)
    return cluster, Placement(machine_of=ints(rng.integers(-1, machines, len(cluster.containers.name))))


def one_machine_at_a_time(cluster, placement, draws, rng):
    """The same numbers in the same order, clipped."""
    rate = []
    for m in range(len(cluster.machines.name)):
        w = cluster.containers.workload[np.flatnonzero(placement.machine_of == m)]
        mean, std = cluster.workloads.usage_mean[w, 0], cluster.workloads.usage_std[w, 0]
        varies = std > 0
        drawn = rng.standard_normal((int(varies.sum()), draws)) * std[varies, None] + mean[varies, None]
        total = mean[~varies].sum() + np.clip(drawn, 0.0, None).sum(axis=0)
        rate.append((total > cluster.machines.capacity[m, 0]).mean())
    return rate


@pytest.mark.parametrize("containers", [11, 17, 1000], ids=["one or two machines", "some machines", "all machines"])
@pytest.mark.parametrize("seed", range(3))
def test_rates_do_not_depend_on_how_many_machines_draw_at_once(containers, seed, monkeypatch):
    cluster, placement = crowded(12, seed)
    assert np.bincount(placement.machine_of + 1)[1:].max() <= 11
    monkeypatch.setattr(monte_carlo, "CHUNK", containers * DRAWS)
    rates = violation_rates(cluster, placement, 0, draws=DRAWS, seed=seed)
    assert rates.tolist() == one_machine_at_a_time(cluster, placement, DRAWS, np.random.default_rng(seed))
    assert 0.0 < rates.mean() < 1.0


@pytest.mark.parametrize("containers", [1, 4, 11], ids=["one machine", "one or two machines", "some machines"])
def test_every_block_draws_from_its_own_stream(containers, monkeypatch):
    cluster, placement = crowded(12, seed=5)
    monkeypatch.setattr(monte_carlo, "BLOCK", containers * DRAWS)
    draws = normal_draws(cluster, placement, 0, draws=DRAWS, seed=3)
    assert len(draws.blocks) > 1
    rates = violation_rates(cluster, placement, 0, draws=DRAWS, seed=3)
    for number, machines in enumerate(draws.blocks):
        there = Placement(machine_of=ints(np.where(np.isin(placement.machine_of, machines), placement.machine_of, -1)))
        alone = one_machine_at_a_time(cluster, there, DRAWS, monte_carlo.stream(3, number))
        assert rates[machines].tolist() == np.array(alone)[machines].tolist()
    assert np.concatenate(draws.blocks).tolist() == np.flatnonzero(np.diff(draws.usage.first)).tolist()


def test_blocks_may_be_drawn_in_any_order(monkeypatch):
    cluster, placement = crowded(12, seed=5)
    monkeypatch.setattr(monte_carlo, "BLOCK", 11 * DRAWS)
    draws = normal_draws(cluster, placement, 0, draws=DRAWS, seed=3)
    forwards = [draws.rates(number).tolist() for number in range(len(draws.blocks))]
    backwards = [draws.rates(number).tolist() for number in reversed(range(len(draws.blocks)))]
    assert forwards == backwards[::-1]


def test_streams_of_blocks_differ_and_the_first_is_that_of_the_seed():
    first, *others = [monte_carlo.stream(7, block).standard_normal(4).tolist() for block in range(4)]
    assert first == np.random.default_rng(7).standard_normal(4).tolist()
    assert len({tuple(numbers) for numbers in (first, *others)}) == 4
    assert others[1] == np.random.default_rng(np.random.SeedSequence(7).spawn(3)[2]).standard_normal(4).tolist()


def test_a_machine_larger_than_a_chunk_draws_in_parts(monkeypatch):
    cluster, placement = crowded(3, seed=0)
    at_once = violation_rates(cluster, placement, 0, draws=5000)
    monkeypatch.setattr(monte_carlo, "CHUNK", 100)
    assert violation_rates(cluster, placement, 0, draws=5000) == pytest.approx(at_once, abs=0.03)


@pytest.mark.parametrize("truncation", Truncation)
def test_a_machine_without_usage_that_varies_overflows_always_or_never(truncation):
    cluster, _ = packing([20, 30], [0, 0], [3, 3], capacity=[49, 50, 51, 10])
    placement = Placement(machine_of=ints([0, 1, 2, 0, 1, 2]))
    assert violation_rates(cluster, placement, 0, draws=7, truncation=truncation).tolist() == [1.0, 0.0, 0.0, 0.0]
