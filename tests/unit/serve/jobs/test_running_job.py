"""A job ends in time whatever its process does, and the store says how."""

import threading
import time

import pytest
from tests.builders.odd_workers import silent_end, stubborn

from bayplan.errors import WorldError
from bayplan.serve.jobs.processes import WorkerProcess, call_in_process
from bayplan.serve.jobs.running_job import RunningJob
from bayplan.serve.store.jobs import JobState, JobStore, StoredJob
from bayplan.serve.store.schema import open_store

PATIENCE = 240.0


@pytest.fixture
def store(tmp_path):
    database = open_store(tmp_path / "serve.db")
    store = JobStore(database)
    store.submit(StoredJob(id="job-1", verb="plan", snapshot="s", options={}, created=1.0), 5)
    store.claim("server", now=2.0)
    yield store
    database.close()


def _followed(job, call):
    thread = threading.Thread(target=job.follow, args=(lambda: WorkerProcess(call),))
    thread.start()
    return thread


def _until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("how", [JobState.CANCELLED, JobState.INTERRUPTED])
def test_a_process_that_does_not_stop_is_ended(store, how, monkeypatch):
    monkeypatch.setattr("bayplan.serve.jobs.running_job.GRACE", 0.2)
    job = RunningJob("job-1", store, lambda name: None, seconds=600.0)
    thread = _followed(job, stubborn)
    _until(lambda: store.job("job-1").progress is not None)
    job.cancel() if how is JobState.CANCELLED else job.interrupt(0.2)
    thread.join(PATIENCE)
    assert not thread.is_alive() and store.job("job-1").state is how
    assert store.events("job-1", 0)[-1].data["state"] == how.value


def test_a_job_whose_time_is_over_is_cancelled(store, monkeypatch):
    monkeypatch.setattr("bayplan.serve.jobs.running_job.GRACE", 0.2)
    monkeypatch.setattr("bayplan.serve.jobs.running_job.STARTING", 0.5)
    thread = _followed(RunningJob("job-1", store, lambda name: None, seconds=0.0), stubborn)
    thread.join(PATIENCE)
    assert store.job("job-1").state is JobState.CANCELLED


def test_a_process_that_ends_without_a_word_fails_its_job(store):
    _followed(RunningJob("job-1", store, lambda name: None, seconds=600.0), silent_end).join(PATIENCE)
    job = store.job("job-1")
    assert job.state is JobState.FAILED and job.failure["code"] == "E2744"


@pytest.mark.parametrize("error", [WorldError("no process can be started"), OSError("no space left")])
def test_a_process_that_cannot_be_started_fails_its_job(store, error):
    def start():
        raise error

    RunningJob("job-1", store, lambda name: None, seconds=600.0).follow(start)
    assert store.job("job-1").state is JobState.FAILED and str(error) in store.job("job-1").failure["detail"]


def test_a_call_that_takes_too_long_is_given_up():
    assert call_in_process(silent_end, seconds=PATIENCE) is None
    kind, data = call_in_process(stubborn, seconds=PATIENCE)
    assert kind == "progress" and data["stage"] == "ignoring"
