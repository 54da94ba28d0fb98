"""What every engine promises: the same answers wherever jobs run, as they come, in time, and nothing lost in silence."""

import time

import numpy as np
import pytest
from tests.builders import engine_jobs

from bayplan.engine import ATTEMPTS, ENGINES, EngineLostError, Job, Shared, engine_of
from bayplan.errors import ModelError, UsageError, WorldError
from bayplan.model.interrupt import stoppable

OTHERS = [name for name in ENGINES if name != "here"]  # a process that dies takes this one with it


def marked(names):
    return [pytest.param(name, marks=pytest.mark.ray if name == "ray" else ()) for name in names]


@pytest.fixture
def engine(request):
    """The engine of a name; Ray on the cluster of three nodes that all of these tests share."""
    return request.getfixturevalue("ray_engine") if request.param == "ray" else engine_of(request.param)


every_engine = pytest.mark.parametrize("engine", marked(ENGINES), indirect=True)
every_engine_with_workers = pytest.mark.parametrize("engine", marked(OTHERS), indirect=True)


def doubling(number, **options):
    return Job(name=f"job {number}", call=engine_jobs.doubled, arguments=(number,), options=options)


@every_engine
def test_answers_come_in_the_order_of_the_jobs(engine):
    jobs = [doubling(number, after=0.5 if number == 0 else 0.0) for number in range(5)]
    assert engine.run(jobs, workers=2) == [0, 2, 4, 6, 8]


@every_engine
def test_no_jobs_give_no_answers(engine):
    assert engine.run([], workers=2) == []
    assert list(engine.stream([], workers=2)) == []


@every_engine
def test_the_number_of_workers_changes_no_answer(engine):
    jobs = [doubling(number) for number in range(7)]
    assert [dict(engine.stream(jobs, workers=workers)) for workers in (1, 2, 3)] == [{n: 2 * n for n in range(7)}] * 3


@every_engine_with_workers
def test_a_stream_brings_what_ends_first(engine):
    with engine:
        list(engine.stream([doubling(0), doubling(1)], workers=2))  # workers have started
        answers = list(engine.stream([doubling(0, after=2.0), doubling(1)], workers=2))
    assert answers == [(1, 2), (0, 0)]


@every_engine
def test_a_job_is_taken_when_a_worker_is_free_for_it(engine):
    taken = []

    def jobs():
        for number in range(9):
            taken.append(number)
            yield doubling(number)

    with engine:
        slots = engine.slots(2)
        for ended, _ in enumerate(engine.stream(jobs(), workers=2), start=1):
            assert len(taken) <= ended + slots
    assert len(taken) == 9


@every_engine
def test_the_error_of_a_job_comes_through_unchanged(engine):
    jobs = [doubling(1), Job(name="bad", call=engine_jobs.refused, arguments=("no such thing",))]
    with pytest.raises(UsageError, match=r"^no such thing$"):
        engine.run(jobs, workers=2)


@every_engine_with_workers
def test_an_error_that_cannot_travel_is_told(engine):
    with pytest.raises(WorldError, match="job 'part 7' failed: StubbornError: cannot travel"):
        engine.run([Job(name="part 7", call=engine_jobs.stubborn)] * 2, workers=2)


@every_engine
def test_jobs_get_the_value_of_what_they_share(engine):
    shared = Shared({"long": np.arange(100_000.0), "empty": np.zeros(0), "one": np.ones(1)})
    jobs = [Job(name=f"{n}", call=engine_jobs.summed, arguments=(shared,), options={"more": n}) for n in range(4)]
    assert engine.run(jobs, workers=2) == [shared.value["long"].sum() + 1 + n for n in range(4)]


@every_engine_with_workers
def test_what_jobs_share_is_loaded_once_by_each_worker(engine):
    shared = Shared(engine_jobs.LoadCount())
    jobs = [Job(name=f"{n}", call=engine_jobs.loads_of, arguments=(shared,)) for n in range(9)]
    with engine:
        first, second = engine.run(jobs, workers=2), engine.run(jobs, workers=2)
    used = {process for process, _ in first}
    assert 1 < len(used) < 9
    per_process = {process: {count for one, count in (*first, *second) if one == process} for process in used}
    assert all(len(counts) == 1 for counts in per_process.values())


@every_engine_with_workers
def test_a_shared_input_inside_of_an_argument_is_refused(engine):
    jobs = [Job(name=f"{n}", call=len, arguments=([Shared(1)],)) for n in range(2)]
    with pytest.raises(ModelError, match="expected it as an argument of the job itself"):
        engine.run(jobs, workers=2)


@every_engine_with_workers
def test_after_the_deadline_jobs_are_given_up_and_what_is_there_is_kept(engine):
    with engine:
        list(engine.stream([doubling(0), doubling(1)], workers=2))  # workers have started
        began = time.monotonic()
        jobs = [doubling(3), Job(name="long", call=engine_jobs.asleep), Job(name="long too", call=engine_jobs.asleep)]
        assert list(engine.stream(jobs, workers=2, seconds=2.0)) == [(0, 6)]
        assert 1.5 < time.monotonic() - began < 6.0
        assert engine.run([doubling(4), doubling(5)], workers=2) == [8, 10]  # it goes on


@every_engine
def test_a_deadline_in_the_past_begins_nothing(engine):
    assert list(engine.stream([doubling(0), doubling(1)], workers=2, seconds=0.0)) == []


@every_engine
def test_a_stop_keeps_what_is_there_and_gives_up_the_rest(engine):
    answers = []
    with stoppable() as stop:
        for answer in engine.stream([doubling(0), *[doubling(n, after=0.0 if n < 2 else 60.0) for n in range(1, 5)]], workers=2):
            answers.append(answer)
            stop.requested = True
    assert answers
    assert set(answers) <= {(0, 0), (1, 2)}


@every_engine_with_workers
def test_a_stop_interrupts_who_waits_for_all_answers(engine):
    with stoppable() as stop:
        stop.requested = True
        with pytest.raises(KeyboardInterrupt):
            engine.run([doubling(0), doubling(1)], workers=2)


@every_engine_with_workers
def test_a_job_whose_worker_dies_is_repeated_and_named(engine, tmp_path):
    losses = []
    jobs = [Job(name=f"part {n}", call=engine_jobs.dying_once, arguments=(str(tmp_path / "mark"), n)) for n in range(4)]
    assert engine.run(jobs, workers=2, lost=losses.append) == [0, 2, 4, 6]
    assert [(loss.attempt, loss.again) for loss in losses] == [(1, True)]
    assert losses[0].job in {job.name for job in jobs}
    assert "died" in losses[0].cause


@every_engine_with_workers
def test_a_job_that_kills_every_worker_is_given_up_and_others_are_kept(engine):
    losses, answers = [], []
    with pytest.raises(EngineLostError, match=f"job 'part 1' was lost {ATTEMPTS} times"):
        for answer in engine.stream(
            [doubling(0), Job(name="part 1", call=engine_jobs.dying, arguments=(9,))], workers=2, lost=losses.append
        ):
            answers.append(answer)  # noqa: PERF402 (what came before the error counts)
    assert answers == [(0, 0)]
    assert len(losses) == ATTEMPTS


@every_engine_with_workers
def test_a_consumer_that_leaves_ends_the_jobs(engine):
    with engine:
        list(engine.stream([doubling(0), doubling(1)], workers=2))
        for _ in engine.stream([doubling(0), Job(name="long", call=engine_jobs.asleep)], workers=2):
            break
        began = time.monotonic()
        assert engine.run([doubling(0), doubling(1)], workers=2) == [0, 2]
        assert time.monotonic() - began < 20.0


@pytest.mark.parametrize("name", ["steam", "ray:", "pool:3", "", "Ray"])
def test_a_name_that_is_none_is_refused_with_those_that_are(name):
    with pytest.raises(UsageError, match=r"expected one of here, pool, ray, or ray:ADDRESS such as"):
        engine_of(name)


def test_an_engine_knows_its_name():
    assert [engine_of(name).name for name in (*ENGINES, "ray:10.0.0.1:6379")] == [*ENGINES, "ray:10.0.0.1:6379"]
