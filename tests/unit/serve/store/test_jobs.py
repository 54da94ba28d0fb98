"""What the store says about snapshots and jobs, on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest

from bayplan.serve.store.jobs import JobState, JobStore, KeptSnapshot, RequestKey, StoredJob
from bayplan.serve.store.schema import open_store

SNAPSHOT = KeptSnapshot(id="sha256-1", kind="cluster", facts={"machines": 3}, size=10, created=1.0, used=1.0)
JOB = StoredJob(id="job-1", verb="plan", snapshot="sha256-1", options={"seconds": 1}, created=2.0)
KEY = RequestKey(scope="token", key="once", digest="d")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store(request, tmp_path):
    where = tmp_path / "serve.db" if request.param == "sqlite" else request.getfixturevalue("postgres_server").address()
    database = open_store(where)
    yield JobStore(database)
    database.close()


def test_a_snapshot_that_is_sent_twice_is_kept_once(store):
    assert store.keep_snapshot(SNAPSHOT) == (SNAPSHOT, True)
    assert store.keep_snapshot(replace(SNAPSHOT, created=9.0, used=9.0)) == (SNAPSHOT, False)
    assert store.snapshot("sha256-1") == replace(SNAPSHOT, used=9.0)
    assert store.snapshots(10) == [replace(SNAPSHOT, used=9.0)]
    assert store.snapshot("sha256-2") is None


def test_a_job_waits_is_claimed_once_and_ends(store):
    assert store.submit(JOB, most_waiting=5) == replace(JOB, events=1)
    claimed = store.claim("server-a", now=3.0)
    assert claimed == replace(JOB, state=JobState.RUNNING, started=3.0, owner="server-a", alive=3.0, events=2)
    assert store.claim("server-b", now=3.0) is None
    ended = store.tell("job-1", "ended", {"state": "done"}, 4.0, state=JobState.DONE, ended=4.0, answer={"headline": "x"})
    assert ended is not None and ended.state is JobState.DONE and ended.answer == {"headline": "x"}
    assert store.tell("job-1", "progress", {}, 5.0) is None  # nothing happens to it any more
    assert [(event.number, event.kind) for event in store.events("job-1", 0)] == [(1, "state"), (2, "state"), (3, "ended")]
    assert [event.number for event in store.events("job-1", 2)] == [3]


def test_jobs_are_claimed_in_the_order_in_which_they_came(store):
    for n in (3, 1, 2):
        store.submit(replace(JOB, id=f"job-{n}", created=float(n)), most_waiting=5)
    assert [store.claim("a", now=9.0).id for _ in range(3)] == ["job-1", "job-2", "job-3"]


def test_too_many_jobs_that_wait_are_refused(store):
    assert store.submit(JOB, most_waiting=1) is not None
    assert store.submit(replace(JOB, id="job-2"), most_waiting=1) is None
    assert store.count(JobState.WAITING) == 1


def test_a_request_with_the_same_key_makes_one_job_and_another_request_is_refused(store):
    first = store.submit(JOB, 5, KEY)
    assert store.submit(replace(JOB, id="job-2"), 5, KEY) == first
    other = store.submit(replace(JOB, id="job-3"), 5, replace(KEY, digest="another"))
    assert isinstance(other, RequestKey) and other.made == "job-1"
    assert [job.id for job in store.jobs(10)] == ["job-1"]


def test_the_same_key_of_another_token_is_another_key(store):
    store.submit(JOB, 5, KEY)
    assert store.submit(replace(JOB, id="job-2"), 5, replace(KEY, scope="other")).id == "job-2"


def test_a_snapshot_that_a_job_needs_is_not_dropped(store):
    store.keep_snapshot(SNAPSHOT)
    store.submit(JOB, 5)
    assert store.drop_snapshot("sha256-1").id == "job-1"
    store.tell("job-1", "ended", {}, 3.0, of=JobState.WAITING, state=JobState.CANCELLED, ended=3.0)
    assert store.drop_snapshot("sha256-1") is None
    assert store.snapshot("sha256-1") is None


def test_jobs_of_a_silent_server_are_abandoned_and_those_of_a_live_one_are_not(store):
    for n in (1, 2):
        store.submit(replace(JOB, id=f"job-{n}", created=float(n)), 5)
        store.claim(f"server-{n}", now=10.0)
    store.say_alive("server-2", now=30.0)
    assert [job.id for job in store.abandoned("server-3", silent_since=20.0)] == ["job-1"]
    assert {job.id for job in store.abandoned("server-3", silent_since=None)} == {"job-1", "job-2"}
    assert [job.id for job in store.abandoned("server-1", silent_since=None)] == ["job-2"]


def test_a_server_learns_that_another_one_was_asked_to_cancel_its_job(store):
    store.submit(JOB, 5)
    store.claim("server-a", now=3.0)
    assert store.cancelling("server-a") == []
    store.ask_to_cancel("job-1")
    assert store.cancelling("server-a") == ["job-1"]
    assert store.cancelling("server-b") == []


def test_what_is_old_is_found_and_forgotten_with_its_events(store):
    store.keep_snapshot(SNAPSHOT)
    store.submit(JOB, 5, KEY)
    assert not store.forget("job-1")  # it has not ended
    store.tell("job-1", "ended", {}, 3.0, of=JobState.WAITING, state=JobState.CANCELLED, ended=3.0)
    assert store.old_jobs(before=3.0) == [] and store.old_jobs(before=4.0) == ["job-1"]
    assert store.idle_snapshots(before=100.0) == []  # a job that is kept is about it
    assert store.forget("job-1") and not store.forget("job-1")
    assert store.events("job-1", 0) == []
    assert store.idle_snapshots(before=2.0) == [] and store.idle_snapshots(before=100.0) == ["sha256-1"]
    store.prune_keys(before=100.0)
    assert store.known_key(KEY) is None


def test_a_text_that_no_database_keeps_does_not_lose_an_event(store):
    store.submit(JOB, 5)
    store.claim("a", now=3.0)
    store.tell("job-1", "progress", {"stage": "odd \0 \ud800"}, 4.0, progress={"stage": "odd \0 \ud800"})
    assert store.events("job-1", 2)[0].kind == "progress"


def test_a_snapshot_that_an_option_of_a_job_names_is_kept_until_the_job_has_ended(store):
    for name in ("sha256-1", "sha256-2"):
        store.keep_snapshot(replace(SNAPSHOT, id=name))
    store.submit(replace(JOB, verb="migrate", options={"target": "sha256-2"}), 5)
    assert store.snapshot("sha256-2").used == 2.0
    assert store.drop_snapshot("sha256-2").id == "job-1"
    store.claim("server-a", now=3.0)
    store.tell("job-1", "ended", {"state": "done"}, 4.0, state=JobState.DONE, ended=4.0)
    assert store.drop_snapshot("sha256-2") is None
    assert store.snapshot("sha256-2") is None
