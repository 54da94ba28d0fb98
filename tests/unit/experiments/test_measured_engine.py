"""The engine that counts: the answers are those of the engine inside, and what travels is what is counted."""

import os
import pickle

import numpy as np
import pytest
from benchmarks.measured_engine import MeasuredEngine
from benchmarks.processes import cpu_seconds
from tests.builders import engine_jobs, parted_cluster

from bayplan.engine import Job, Shared, engine_of


@pytest.mark.parametrize("name", ["here", "pool"])
def test_answers_are_those_of_the_engine_inside(name):
    jobs = [Job(name=f"job {n}", call=engine_jobs.doubled, arguments=(n,), options={"after": 0.05}) for n in range(5)]
    with MeasuredEngine(engine_of(name)) as engine:
        assert engine.run(jobs, workers=2) == [0, 2, 4, 6, 8]
    counted = engine.statistics
    assert sorted(record.name for record in counted.records) == [f"job {n}" for n in range(5)]
    assert all(0.05 <= record.seconds < 5 and record.cpu < record.seconds for record in counted.records)
    assert all(record.taken <= record.sent <= record.came for record in counted.records)
    assert counted.streaming > 0.1


def test_what_travels_is_counted_and_shared_inputs_once():
    shared = Shared(np.arange(10_000.0))
    jobs = [Job(name=f"{n}", call=engine_jobs.echoed, arguments=(b"x" * 1_000, shared)) for n in range(3)]
    with MeasuredEngine(engine_of("pool")) as engine:
        engine.run(jobs, workers=2)
    counted = engine.statistics
    assert counted.bytes_sent == sum(len(job.packed()) for job in jobs) > 3_000
    assert counted.bytes_received == 3 * len(pickle.dumps(b"x" * 1_000, protocol=5))
    assert counted.bytes_shared == shared.file().stat().st_size > 80_000


def test_nothing_travels_in_this_process():
    engine = MeasuredEngine(engine_of("here"))
    engine.run([Job(name="one", call=engine_jobs.echoed, arguments=(b"x", Shared(1)))], workers=1)
    counted = engine.statistics
    assert (counted.jobs, counted.bytes_sent, counted.bytes_received, counted.bytes_shared) == (1, 0, 0, 0)


def test_a_decision_is_the_same_with_and_without_counting():
    plain = parted_cluster.collocated("here", iterations=1)
    engine = MeasuredEngine(engine_of("pool"))
    counted = parted_cluster.collocated(engine, threads=2, iterations=1)
    assert counted.placement.machine_of.tolist() == plain.placement.machine_of.tolist()
    assert engine.statistics.jobs == parted_cluster.PARTS


def test_processor_seconds_of_workers_count_after_they_have_ended():
    before = cpu_seconds([os.getpid()])
    engine = MeasuredEngine(engine_of("pool"))
    engine.run([Job(name=f"{n}", call=engine_jobs.busy, arguments=(0.5,)) for n in range(2)], workers=2)
    assert 1.0 <= engine.statistics.cpu < 1.5
    assert cpu_seconds([os.getpid()]) - before > 0.95  # clock ticks are coarse
