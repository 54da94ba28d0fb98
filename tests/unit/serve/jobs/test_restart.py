"""A server that dies or ends loses no job: what ran is interrupted with its best incumbent, what waited runs."""

import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders.jobs_served import LONG, boutique, client_of, until_incumbent
from tests.builders.served import ServerProcess, serving

import bayplan as bp
from bayplan.errors import InputError
from bayplan.serve.app import make_service
from bayplan.serve.problems import RequestRefusedError
from bayplan.serve.settings import Limits, ServeSettings
from bayplan.serve.store.jobs import RequestKey

PATIENCE = 240.0


def _stat(pid):
    """State and parent of a process; None if there is none."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return state, int(parent)


def _children(parent):
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in numbers if (stat := _stat(pid)) is not None and stat[1] == parent]


def _workers(server):
    """The processes of jobs, which the fork server of a server has made."""
    return [worker for child in _children(server.process.pid) for worker in _children(child)]


def _until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_gone(pid):
    stat = _stat(pid)
    return stat is None or stat[0] == "Z"


@pytest.mark.long
def test_a_killed_server_leaves_its_jobs_interrupted_with_their_best_incumbent(tmp_path):
    with ServerProcess("--jobs", "2", folder=tmp_path) as server:
        client = client_of(server.address)
        shop = boutique(client)
        jobs = [client.rebalance(shop, seconds=LONG), client.plan(shop, seconds=LONG)]
        waits = client.show(shop)
        seen = [until_incumbent(job) for job in jobs]
        workers = _workers(server)
        assert len(workers) == 2
        server.kill()
        _until(lambda: all(_is_gone(pid) for pid in workers))  # no server listens to them any more
    with ServerProcess("--jobs", "2", folder=tmp_path) as server:
        client = client_of(server.address)
        for job, incumbent in zip(jobs, seen, strict=True):
            after = client.job(job.id)
            assert after.state == "interrupted"
            result = after.result()
            assert result["interrupted"] and result["verb"] == after.document["verb"]
            assert result["score"][incumbent["goal"]] <= incumbent["value"]  # the best, not the first
            assert result["score"] == after.document["incumbent"]["score"] or result["score"] == after.incumbent()["score"]
            after.save(tmp_path / "placement.json")
            assert "placement" in (tmp_path / "placement.json").read_text()
            assert [event.kind for event in after.events()][-1] == "ended"
        assert client.job(waits.id).wait().state == "done"


@pytest.mark.long
def test_a_server_that_is_told_to_end_gives_running_jobs_the_time_for_an_answer(tmp_path):
    with ServerProcess("--jobs", "1", folder=tmp_path) as server:
        client = client_of(server.address)
        job = client.plan(boutique(client), seconds=LONG)
        until_incumbent(job)
        assert server.end() == 0
    with ServerProcess(folder=tmp_path) as server:
        after = client_of(server.address).job(job.id)
        assert after.state == "interrupted"
        assert after.document["answer"]["headline"].startswith("Plan:")  # a whole plan, its moves in order
        assert after.result()["interrupted"]
        after.save(tmp_path / "plan.json")
        assert "batches" in (tmp_path / "plan.json").read_text()


@pytest.mark.long
def test_an_event_stream_goes_on_after_a_restart_where_it_was_cut_off(tmp_path):
    with ServerProcess(folder=tmp_path) as server:
        client = client_of(server.address)
        job = client.rebalance(boutique(client), seconds=LONG)
        seen = []
        for event in job.events():
            seen.append(event.number)
            if event.kind == "incumbent":
                break
        server.kill()
    with ServerProcess(folder=tmp_path) as server:
        rest = list(client_of(server.address).job(job.id).events(after=seen[-1]))
    assert [*seen, *(event.number for event in rest)] == list(range(1, rest[-1].number + 1))
    assert rest[-1].kind == "ended" and rest[-1].data["state"] == "interrupted"


@pytest.mark.long
def test_a_process_that_dies_fails_its_job_alone(tmp_path):
    with ServerProcess("--jobs", "1", folder=tmp_path) as server:
        client = client_of(server.address)
        shop = boutique(client)
        job = client.rebalance(shop, seconds=LONG)
        until_incumbent(job)
        (worker,) = _workers(server)
        os.kill(worker, signal.SIGKILL)
        assert job.wait().state == "failed"
        assert job.document["failure"]["code"] == "E2744" and "SIGKILL" in job.document["failure"]["detail"]
        assert job.incumbent()["placement"]  # what it had written down is still there
        assert client.show(shop).wait().state == "done"


@pytest.mark.postgres
def test_a_server_on_the_same_database_takes_over_what_a_killed_one_leaves(tmp_path, postgres_server, monkeypatch):
    monkeypatch.setattr("bayplan.serve.jobs.queue.SILENT", 1.0)
    where = postgres_server.address()
    with ServerProcess("--jobs", "1", "--store", where, "--folder", str(tmp_path / "files"), folder=tmp_path) as first:
        client = client_of(first.address)
        shop = boutique(client)
        ran, waited = client.rebalance(shop, seconds=LONG), client.show(shop)
        until_incumbent(ran)
        settings = ServeSettings(port=0, store=where, folder=tmp_path / "files", limits=Limits(jobs=1))
        with serving(settings) as address:
            other = client_of(address)
            assert other.job(ran.id).state == "running"  # the first server lives
            assert waited.wait().state == "done"  # any server runs what waits
            asked = other.job(ran.id).cancel()  # the server that runs it is told through the store
            assert asked.document["cancelling"] or asked.state == "cancelled"
            assert asked.wait().state == "cancelled"
            left = client.rebalance(shop, seconds=LONG)
            follow = client.rebalance(shop, seconds=LONG)
            _until(lambda: {other.job(job.id).state for job in (left, follow)} == {"running"})
            first.kill()
            _until(lambda: "interrupted" in {other.job(job.id).state for job in (left, follow)})
            for job in (left, follow):
                other.job(job.id).cancel()


@pytest.fixture
def queue(tmp_path):
    """A queue that does not run, and a snapshot that it keeps."""
    service = make_service(ServeSettings(store=str(tmp_path / "serve.db"), folder=tmp_path / "files"))
    bp.write(bp.ClusterBuilder("one").machine("m", cpu=4).workload("web", cpu=1, on="m").build(), tmp_path / "one.json")
    snapshot, _ = service.jobs.snapshots.keep((tmp_path / "one.json").read_bytes(), "json")
    yield service.jobs, snapshot.id
    service.database.close()


def test_what_is_old_is_pruned_though_its_files_are_gone(queue):
    jobs, snapshot = queue
    shutil.rmtree(jobs.snapshots.path(snapshot))
    jobs.prune(time.time() + 1e9)
    assert jobs.store.snapshot(snapshot) is None


def test_folders_that_a_kill_left_are_removed(queue):
    jobs, _ = queue
    left, new = jobs.snapshots.folder / ".arriving-left", jobs.snapshots.folder / ".arriving-new"
    for folder in (left, new):
        folder.mkdir()
    os.utime(left, (1.0, 1.0))
    jobs.prune(time.time())
    assert new.exists() and not left.exists()


def test_an_error_in_its_care_does_not_end_the_care(queue):
    jobs, _ = queue
    told = []
    jobs.tell = lambda event, fields: told.append(fields["error"])
    with jobs._whatever_happens():
        raise KeyError("a job that has just ended")
    assert "KeyError" in told[0]


def test_a_key_whose_job_was_deleted_says_so(queue):
    jobs, snapshot = queue
    key = RequestKey(scope="", key="once", digest="d")
    job = jobs.submit("show", snapshot, {}, key)
    jobs.cancel(job.id)
    jobs.delete(job.id)
    with pytest.raises(InputError, match="deleted since"):
        jobs.submit("show", snapshot, {}, key)
    with pytest.raises(RequestRefusedError, match="used for another request"):
        jobs.submit("show", snapshot, {}, replace(key, digest="another"))
