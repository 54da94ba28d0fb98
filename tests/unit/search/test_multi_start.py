"""Several walks that exchange what they have found: the best counts, wherever and in whatever order they end."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.check import check
from bayplan.engine import EngineLostError, engine_of
from bayplan.engine.job_limits import equal_shares
from bayplan.model import Budget, Placement, ints
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves
from bayplan.search import anneal
from bayplan.search.multi_start import FEW, StartSettings, search_from_starts, seed_of, violated_then_cost

STEPS = Budget(iterations=2_000)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem.of(cluster_of(machines=8, services=5, replicas=5), max_moves=9)


def settings(starts: int = 3, engine: str = "here", workers: int = 1, **other) -> StartSettings:
    return StartSettings(starts=starts, engine=engine_of(engine), workers=workers, **other)


def searched(problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
    return anneal.search(problem, budget=budget, seed=seed, further=further)


def noted(problem: Problem, *, budget: Budget, seed: int, further: bool, calls: list) -> Placement:
    placement = searched(problem, budget=budget, seed=seed, further=further)
    calls.append((problem.start.machine_of.tolist(), budget, seed, further, placement.machine_of.tolist()))
    return placement


def dying_once(problem: Problem, *, budget: Budget, seed: int, further: bool, mark: str) -> Placement:
    """The search; the first process that comes here dies."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return searched(problem, budget=budget, seed=seed, further=further)
    os.kill(os.getpid(), signal.SIGKILL)
    return problem.start


def dying_later(problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
    """The search; who goes on from what was found dies."""
    if further:
        os.kill(os.getpid(), signal.SIGKILL)
    return searched(problem, budget=budget, seed=seed, further=further)


def dying(problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
    os.kill(os.getpid(), signal.SIGKILL)
    return problem.start


def slow(problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
    """A walk that keeps its time exactly, and finds nothing."""
    time.sleep(budget.seconds or 0.0)
    return problem.start


def test_the_best_of_all_walks_counts_and_breaks_nothing(problem):
    calls = []
    found = search_from_starts(problem, partial(noted, calls=calls), settings(), budget=STEPS, seed=1)
    ranks = [violated_then_cost(problem, Placement(machine_of=ints(after))) for *_, after in calls]
    assert violated_then_cost(problem, found.placement) == min(ranks)
    assert min(ranks) < violated_then_cost(problem, problem.start)
    assert not check(problem.cluster, found.placement, problem.before)
    assert moves(problem.cluster, found.placement, problem.before) <= 9


def test_walks_go_on_from_the_best_few_in_turn(problem):
    calls = []
    search_from_starts(problem, partial(noted, calls=calls), settings(5, epochs=(0.5, 0.5)), budget=STEPS, seed=1)
    first, second = calls[:5], calls[5:]
    assert [further for *_, further, _ in calls] == [False] * 5 + [True] * 5
    assert all(start == problem.start.machine_of.tolist() for start, *_ in first)
    by_rank = {violated_then_cost(problem, Placement(machine_of=ints(after))): after for *_, after in reversed(first)}
    few = [by_rank[rank] for rank in sorted(by_rank)[:FEW]]
    assert [start for start, *_ in second] == [few[n % len(few)] for n in range(5)]


def test_each_walk_has_its_own_seed_and_its_part_of_the_iterations(problem):
    calls = []
    search_from_starts(problem, partial(noted, calls=calls), settings(2, epochs=(0.75, 0.25)), budget=STEPS, seed=1)
    assert [budget.iterations for _, budget, *_ in calls] == [1_500, 1_500, 500, 500]
    assert len({seed for _, _, seed, *_ in calls}) == 4
    assert len({seed_of(*each) for each in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))}) == 4


def test_an_epoch_in_which_nothing_is_found_changes_nothing(problem):
    found = search_from_starts(problem, slow, settings(), budget=Budget(iterations=1), seed=1)
    assert found.placement is problem.start


@pytest.mark.parametrize(("engine", "workers"), [("here", 3), ("pool", 2), ("pool", 3)])
def test_the_engine_and_the_number_of_workers_change_nothing(problem, engine, workers):
    alone = search_from_starts(problem, searched, settings(4), budget=STEPS, seed=3)
    budget = Budget(iterations=2_000, threads=workers)
    other = search_from_starts(problem, searched, settings(4, engine, workers), budget=budget, seed=3)
    assert np.array_equal(alone.placement.machine_of, other.placement.machine_of)
    assert alone.notes == other.notes


def test_a_walk_whose_process_dies_is_repeated_and_named(problem, tmp_path):
    walk = partial(dying_once, mark=str(tmp_path / "mark"))
    found = search_from_starts(problem, walk, settings(3, "pool", 2), budget=STEPS, seed=3)
    undisturbed = search_from_starts(problem, searched, settings(3), budget=STEPS, seed=3)
    assert np.array_equal(found.placement.machine_of, undisturbed.placement.machine_of)
    lost = [note for note in found.notes if "was lost" in note]
    assert len(lost) == 1
    assert lost[0].startswith("engine: job 'walk ")
    assert lost[0].endswith("it is repeated elsewhere (attempt 2 of 3)")


def test_what_was_found_before_the_engine_was_lost_is_kept(problem):
    found = search_from_starts(problem, dying_later, settings(2, "pool", 2, epochs=(0.5, 0.5)), budget=STEPS, seed=3)
    assert violated_then_cost(problem, found.placement) < violated_then_cost(problem, problem.start)
    assert any(note.startswith("the search ended early: job 'walk ") for note in found.notes)


def test_an_engine_that_is_lost_before_any_walk_has_ended_is_an_error(problem):
    with pytest.raises(EngineLostError, match=r"job 'walk \d of 2, epoch 1 of 2' was lost 3 times"):
        search_from_starts(problem, dying, settings(2, "pool", 2), budget=STEPS, seed=3)


def test_progress_says_how_far_it_is_and_what_is_best(problem):
    ticks = []

    def see(tick):
        ticks.append((tick.done, tick.score, violated_then_cost(problem, tick.solution())[-1]))

    search_from_starts(problem, searched, settings(2), budget=STEPS, seed=1, progress=see)
    assert [done for done, *_ in ticks] == sorted(done for done, *_ in ticks)
    assert ticks[-1][0] == pytest.approx(1.0)
    assert [score for _, score, _ in ticks] == sorted((score for _, score, _ in ticks), reverse=True)
    assert all(score == cost for _, score, cost in ticks)


def test_a_stop_keeps_the_best_so_far(problem):
    with stoppable() as stop:

        def halt(tick):
            stop.requested = True

        found = search_from_starts(problem, searched, settings(5), budget=STEPS, seed=1, progress=halt)
    assert violated_then_cost(problem, found.placement) < violated_then_cost(problem, problem.start)


@pytest.mark.parametrize("starts", [1, 2, 5])
def test_the_seconds_are_kept_however_many_walks_there_are(problem, starts):
    began = time.monotonic()
    search_from_starts(problem, slow, settings(starts), budget=Budget(seconds=1.0), seed=1)
    assert 0.9 < time.monotonic() - began < 2.5


def test_more_walks_than_slots_share_the_time_of_an_epoch():
    shares = equal_shares(5, Budget(seconds=60.0, threads=4).clock(), 0.5)
    limits = [shares.of(n, 2) for n in range(5)]
    assert [each.time.seconds for each in limits] == pytest.approx([10.0, 10.0, 15.0, 15.0, 30.0], abs=0.5)
    assert {each.threads for each in limits} == {2}
    assert [shares.of(n, 8).time.seconds for n in range(5)] == pytest.approx([30.0] * 5, abs=0.5)


def test_by_iterations_the_slots_change_no_limit():
    clock = Budget(iterations=7, threads=4).clock()
    assert {equal_shares(5, clock).of(n, slots)[1:] for n in range(5) for slots in (1, 3, 9)} == {(7, 1)}
