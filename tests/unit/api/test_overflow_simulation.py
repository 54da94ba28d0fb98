"""How often machines overflow, drawn on engines: the same rates anywhere."""

import numpy as np
import pytest
from tests.builders import engine_jobs
from tests.unit.score.test_monte_carlo import crowded

from bayplan.api.packing import overflow_simulation
from bayplan.api.packing.overflow_simulation import simulation_on, violation_rates_on
from bayplan.decide.pack.instance import UsageModel
from bayplan.engine import EngineLostError, engine_of
from bayplan.model.interrupt import stoppable
from bayplan.score import empirical, monte_carlo
from bayplan.score.empirical import sampled_draws, violation_rates_of_samples
from bayplan.score.monte_carlo import normal_draws, violation_rates

DRAWS = 60


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks for a small cluster."""
    for module in (monte_carlo, empirical):
        monkeypatch.setattr(module, "BLOCK", 4 * DRAWS)


def samples():
    return {0: np.array([10.0, 20.0, 90.0]), 3: np.array([25.0])}


def both_kinds():
    """Usage to be drawn from distributions and from samples, and the rates as they are drawn here."""
    cluster, placement = crowded(12, seed=5)
    yield normal_draws(cluster, placement, 0, draws=DRAWS, seed=3), violation_rates(cluster, placement, 0, draws=DRAWS, seed=3)
    drawn = sampled_draws(cluster, placement, 0, samples(), DRAWS, 3)
    yield drawn, violation_rates_of_samples(cluster, placement, 0, samples(), DRAWS, 3)


@pytest.mark.parametrize(("engine", "workers"), [("here", 1), ("pool", 2), ("pool", 3)])
def test_rates_are_the_same_on_any_engine(small_blocks, engine, workers):
    for draws, expected in both_kinds():
        assert len(draws.blocks) > 3
        assert violation_rates_on(engine_of(engine), draws, workers=workers, least=2).tolist() == expected.tolist()
        assert 0.0 < expected.mean() < 1.0


class LosingEngine:
    """An engine that is lost after its first answer."""

    name = "odd"

    def stream(self, jobs, **more):
        yield 0, next(iter(jobs))()
        raise EngineLostError("engine 'odd' is lost")


def test_what_a_lost_engine_leaves_is_drawn_here_and_said(small_blocks, caplog):
    for draws, expected in both_kinds():
        assert violation_rates_on(LosingEngine(), draws, least=2).tolist() == expected.tolist()
    assert "engine 'odd' is lost; the rest is drawn here" in caplog.text


def test_a_lost_worker_is_reported_and_changes_nothing(small_blocks, tmp_path, monkeypatch):
    losses, (draws, expected) = [], next(both_kinds_in_a_list())
    monkeypatch.setattr(overflow_simulation, "block_rates", engine_jobs.block_rates_dying_once)
    drawn = violation_rates_on(engine_of("pool"), Marked(draws, str(tmp_path / "died")), workers=2, lost=losses.append, least=2)
    assert drawn.tolist() == expected.tolist()
    assert [loss.attempt for loss in losses] == [1]
    assert losses[0].job.startswith("block ")


def both_kinds_in_a_list():
    return iter(list(both_kinds()))


class Marked:
    """Draws that know a file: its worker is killed if that is not there."""

    def __init__(self, draws, mark):
        self.draws, self.mark = draws, mark

    def __getattr__(self, name):
        if name in ("draws", "mark"):  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.draws, name)


def test_a_stop_leaves_no_rate_out(small_blocks):
    draws, expected = next(both_kinds())
    with stoppable() as stop:
        stop.requested = True
        assert violation_rates_on(engine_of("pool"), draws, workers=2, least=2).tolist() == expected.tolist()


def test_few_blocks_are_drawn_here():
    cluster, placement = crowded(12, seed=5)
    draws = normal_draws(cluster, placement, 0, draws=DRAWS)
    rates = violation_rates_on(LosingEngine(), draws)  # it would log that it is lost
    assert rates.tolist() == violation_rates(cluster, placement, 0, draws=DRAWS).tolist()


@pytest.mark.parametrize("engine", [None, "pool"])
def test_a_simulation_draws_from_samples_if_there_are_some(engine):
    cluster, placement = crowded(12, seed=5)
    on = None if engine is None else engine_of(engine)
    normal = simulation_on(UsageModel(seed=2), on).rates_of(cluster, placement, 0, DRAWS)
    sampled = simulation_on(UsageModel(samples=samples(), seed=2), on).rates_of(cluster, placement, 0, DRAWS)
    assert normal.tolist() == violation_rates(cluster, placement, 0, draws=DRAWS, seed=2).tolist()
    assert sampled.tolist() == violation_rates_of_samples(cluster, placement, 0, samples(), DRAWS, 2).tolist()
