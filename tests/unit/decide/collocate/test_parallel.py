"""Subproblems on an engine: their part of the time, what is kept when some do not come, the same answer everywhere."""

import math
import re
import time

import numpy as np
import pytest
from tests.builders import parted_cluster
from tests.builders.three_services import problem_of

from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.parallel import PartLimits, SolveLimits, TimeShares, solve_in_parallel
from bayplan.decide.collocate.rasa import rasa
from bayplan.decide.collocate.subproblem import whole_cluster
from bayplan.engine import EngineLostError, JobLoss, engine_of
from bayplan.engine.here import InProcess
from bayplan.model import Budget, silent
from bayplan.model.interrupt import stoppable

FOREVER = SolveLimits(seconds=math.inf, iterations=3, threads=2, seed=10)


def what_it_got(subproblems, number, about, limits: PartLimits):
    return number, about, limits.seed, limits.iterations, limits.threads, limits.time.left


def solved(engine, parts=3, limits=FOREVER, progress=silent):
    subproblem = whole_cluster(problem_of())
    about = [f"about {number}" for number in range(parts)]
    return solve_in_parallel([subproblem] * parts, what_it_got, about, engine, limits, progress)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", ["here", "pool"])
def test_under_iterations_nothing_depends_on_where_it_runs(name, threads):
    parts = solved(engine_of(name), limits=FOREVER._replace(threads=threads))
    assert [parts.answer_of[n] for n in range(3)] == [(n, f"about {n}", 10 + n, 3, 1, math.inf) for n in range(3)]
    assert parts.notes == ()


def shares(share, slots, seconds=10.0):
    return TimeShares(share=np.array(share), until=time.time() + seconds, slots=slots)


def test_one_after_the_other_gets_its_share_of_what_is_left():
    times = shares([0.4, 0.3, 0.2, 0.1], 1)
    assert times.begin(0) == pytest.approx(4.0, abs=0.1)
    times.end(0)  # at once: the others share all of the time
    assert times.begin(1) == pytest.approx(5.0, abs=0.1)


def test_two_at_a_time_leave_enough_for_those_after_them():
    times = shares([0.4, 0.3, 0.2, 0.1], 2)
    assert times.begin(0) == pytest.approx(8.0, abs=0.1)
    assert times.begin(1) == pytest.approx(6.0, abs=0.1)


def test_as_many_slots_as_parts_give_all_of_the_time_to_each():
    times = shares([0.9, 0.05, 0.05], 3)
    assert [times.begin(number) for number in range(3)] == pytest.approx([10.0] * 3, abs=0.1)


def test_without_a_limit_of_time_there_is_none():
    times = TimeShares(share=np.zeros(2), until=math.inf, slots=1)
    assert [times.begin(0), times.begin(1)] == [math.inf, math.inf]


class LostAfter(InProcess):
    """An engine that is lost after some answers."""

    def __init__(self, answers: int) -> None:
        self.answers = answers

    def stream(self, jobs, *, lost, **limits):
        lost(JobLoss("part 1 of 3", "its node 10.0.0.7 died", 1, True))
        for number, answer in super().stream(jobs):
            if number == self.answers:
                raise EngineLostError("engine 'ray' is lost: no answer")
            yield number, answer


def test_what_came_before_a_loss_is_kept_and_the_loss_is_noted(caplog):
    parts = solved(LostAfter(2))
    assert len(parts.answer_of) == 2
    assert parts.notes == (
        "engine: job 'part 1 of 3' was lost: its node 10.0.0.7 died; it is repeated elsewhere (attempt 2 of 3)",
        "engine 'ray' is lost: no answer",
    )
    assert "part 1 of 3" in caplog.text


def test_a_loss_before_anything_came_is_an_error():
    with pytest.raises(EngineLostError, match="no answer"):
        solved(LostAfter(0))


def test_progress_grows_with_each_answer():
    done = []
    solved(engine_of("here"), progress=lambda tick: done.append(tick.done))
    assert done == pytest.approx([1 / 3, 2 / 3, 1.0])


@pytest.mark.parametrize("engine", ["here", "pool"])
def test_a_stop_keeps_what_came_and_leaves_the_rest_as_it_runs(engine):
    with stoppable() as stop:

        def after_the_first(tick):
            stop.requested |= tick.stage == "solving" and tick.done > 0

        answer = parted_cluster.collocated(engine, threads=2, progress=after_the_first)
    (note,) = [note for note in answer.result.notes if note.startswith("subproblems")]
    assert re.search(r"\d left as they run \(interrupted, out of time, or lost\)", note)
    assert answer.before["affinity"] < answer.score["affinity"]


def test_the_same_answer_on_any_engine_and_any_number_of_workers():
    first, *others = [
        parted_cluster.collocated(engine, threads=n, iterations=1) for engine, n in (("here", 1), ("pool", 2), ("pool", 3))
    ]
    for other in others:
        assert other.placement.machine_of.tolist() == first.placement.machine_of.tolist()
        assert other.score == first.score


def test_iterations_bound_the_search():
    problem = problem_of()
    for select in ("mip", "cg"):
        options = CollocateOptions(engine="here", select=select)
        for iterations in (0, 1, 5):
            began = time.monotonic()
            result = rasa(problem, options, budget=Budget(iterations=iterations), seed=1, progress=silent)
            assert time.monotonic() - began < 20.0
            assert result.solution is not None
