"""An engine that is used only where that is worth it."""

import math
import time

import pytest
from tests.builders import engine_jobs
from tests.builders.odd_engines import OddEngine

from bayplan.engine import Job, lazy
from bayplan.engine.job_limits import JobTime
from bayplan.engine.lazy import LazyEngine
from bayplan.errors import UsageError, WorldError
from bayplan.model.interrupt import stoppable


def jobs(number: int) -> list[Job[int]]:
    return [Job(name=f"job {n}", call=engine_jobs.doubled, arguments=(n,)) for n in range(number)]


def worked(engine: LazyEngine, seconds: float = lazy.START) -> LazyEngine:
    """The engine, after a piece of work in this process."""
    engine.did(seconds)
    return engine


@pytest.mark.parametrize("engine", [None, "here"])
def test_without_workers_nothing_is_worth_it(engine):
    none = worked(LazyEngine(engine, workers=8), 1e6)
    with none:
        assert not none.worthwhile(1_000)
        assert none.slots == 1
        assert list(none.answers(jobs(3))) == []
    assert none.notes == ()


def test_the_first_second_is_done_in_this_process():
    engine = LazyEngine(OddEngine())
    assert not engine.worthwhile(1_000)
    assert not worked(engine, 0.9 * lazy.START).worthwhile(1_000)
    assert worked(engine, 0.2 * lazy.START).worthwhile(1_000)


def test_little_work_stays_in_this_process():
    engine = worked(LazyEngine(OddEngine()))
    for _ in range(200):
        engine.did(1e-5)
    assert not engine.worthwhile(10)
    assert engine.worthwhile(10**6)
    assert not engine.worth_it(lazy.LEAST / 2)


def test_one_slot_is_this_process():
    assert not worked(LazyEngine(OddEngine(slots=1))).worthwhile(1_000)
    assert not worked(LazyEngine("pool", workers=1)).worthwhile(1_000)


def test_jobs_are_large_where_pieces_are_short_and_enough_for_all_workers():
    engine = worked(LazyEngine(OddEngine(slots=2)))
    assert engine.pieces_at_once(1_000) == 1
    for _ in range(400):
        engine.did(lazy.JOB / 10)
    assert engine.pieces_at_once(1_000) == pytest.approx(10, abs=1)
    assert engine.pieces_at_once(8 * lazy.JOBS) == 4
    assert engine.pieces_at_once(1) == 1


def test_answers_come_from_workers():
    engine = LazyEngine(OddEngine())
    assert sorted(engine.answers(jobs(5))) == [0, 2, 4, 6, 8]


def test_an_engine_that_is_lost_is_noted_and_not_used_again():
    engine = worked(LazyEngine(OddEngine(lost_after=2)))
    assert len(list(engine.answers(jobs(5)))) == 2
    assert engine.notes == ("engine: engine 'odd' is lost: all at once; the rest was done in this process",)
    assert not engine.worthwhile(1_000)
    assert engine.slots == 1


class Unreachable(OddEngine):
    def slots(self, workers: int) -> int:
        raise WorldError("nothing answers at 10.0.0.1:6379")


def test_an_engine_that_cannot_be_reached_is_noted():
    engine = worked(LazyEngine(Unreachable()))
    assert not engine.worthwhile(1_000)
    assert engine.notes == ("engine: nothing answers at 10.0.0.1:6379; the rest was done in this process",)


class Interrupted(OddEngine):
    def slots(self, workers: int) -> int:
        raise KeyboardInterrupt


def test_a_stop_while_an_engine_starts_loses_nothing_and_another_interrupt_is_one():
    with stoppable() as stop:
        with pytest.raises(KeyboardInterrupt):
            _ = LazyEngine(Interrupted()).slots
        stop.requested = True
        assert LazyEngine(Interrupted()).slots == 1


def test_a_stop_ends_it():
    engine = worked(LazyEngine(OddEngine()))
    with stoppable() as stop:
        stop.requested = True
        assert not engine.worthwhile(1_000)
        assert list(engine.answers(jobs(3))) == []


def test_an_unknown_name_is_refused_at_once():
    with pytest.raises(UsageError, match="engine 'steam'"):
        LazyEngine("steam")


def test_the_time_of_a_job_is_that_of_its_caller_and_no_longer_than_told():
    now = time.perf_counter()
    assert JobTime.until_moment(math.inf).ends == math.inf
    assert JobTime.until_moment(now + 5.0).ends == pytest.approx(now + 5.0, abs=0.5)
    assert JobTime.until_moment(now - 5.0).ends == pytest.approx(time.perf_counter(), abs=0.5)
    assert JobTime(until=time.time() + 1e6, seconds=2.0).ends == pytest.approx(time.perf_counter() + 2.0, abs=0.5)  # its clock


def test_answers_end_after_the_deadline():
    with LazyEngine("pool", workers=2) as engine:
        began = time.perf_counter()
        late = [Job(name="long", call=engine_jobs.asleep), Job(name="long too", call=engine_jobs.asleep)]
        assert list(engine.answers(late, ends=began + 0.5)) == []
        assert time.perf_counter() - began < 10.0
