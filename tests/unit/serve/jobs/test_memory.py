"""A file or a job that takes too much memory ends its own process with a numbered fault, and nothing else."""

import json

import pytest

from bayplan.errors import InputError
from bayplan.serve.jobs import snapshots as snapshots_module
from bayplan.serve.jobs.processes import WorkerProcess, call_in_process
from bayplan.serve.jobs.running_job import RunningJob
from bayplan.serve.jobs.snapshots import READERS, SnapshotFolder
from bayplan.serve.jobs.verbs import OptionLimits
from bayplan.serve.jobs.worker import JobTask, run_job
from bayplan.serve.store.jobs import JobState, JobStore, StoredJob
from bayplan.serve.store.schema import open_store
from bayplan.serve.views.drawing import draw_snapshot

LITTLE = 600 * 2**20  # bytes: the library alone takes 250 million of them
PATIENCE = 240.0


def _file(workloads, replicas):
    entries = [{"name": f"web{w}", "replicas": replicas, "request": {"cpu": 1}} for w in range(workloads)]
    machines = [{"name": "m", "capacity": {"cpu": 4}}]
    return json.dumps({"bayplan": 1, "resources": {"cpu": {}}, "machines": machines, "workloads": entries}).encode()


HUNGRY = _file(20, 1_000_000)  # 1 kB that become gigabytes


@pytest.fixture
def snapshots(tmp_path):
    database = open_store(tmp_path / "serve.db")
    yield SnapshotFolder(tmp_path / "snapshots", JobStore(database), 10**9, LITTLE)
    database.close()


@pytest.fixture
def hungry(tmp_path):
    """A folder with a file that takes gigabytes."""
    folder = tmp_path / "hungry"
    folder.mkdir()
    (folder / "snapshot.json").write_bytes(HUNGRY)
    return folder


@pytest.mark.long
def test_a_file_that_takes_too_much_memory_is_a_numbered_fault(snapshots):
    with pytest.raises(InputError, match=r"E2742.*takes too much memory"):
        snapshots.keep(HUNGRY, "json")
    assert snapshots.keep(_file(1, 2), "json")[1]


@pytest.mark.long
def test_a_drawing_that_takes_too_much_memory_is_a_failure(hungry):
    kind, data = call_in_process(draw_snapshot, hungry, LITTLE, True, seconds=PATIENCE)
    assert kind == "failed" and "bytes of memory" in data["detail"]


@pytest.mark.long
def test_a_job_that_takes_too_much_memory_fails_with_a_number(snapshots, hungry, tmp_path):
    store = snapshots.store
    store.submit(StoredJob(id="job-1", verb="show", snapshot="s", options={}, created=1.0), 5)
    store.claim("server", now=2.0)
    task = JobTask(job="job-1", verb="show", options={}, snapshot=hungry, folder=tmp_path, limits=OptionLimits(), memory=LITTLE)
    RunningJob("job-1", store, lambda name: None, seconds=PATIENCE).follow(lambda: WorkerProcess(run_job, task))
    job = store.job("job-1")
    assert job.state is JobState.FAILED and job.failure["code"] == "E2744"
    assert "bytes of memory" in job.failure["detail"]


def test_a_body_is_unpacked_only_where_there_is_a_place_to_read_it(snapshots, monkeypatch):
    unpacked = []
    monkeypatch.setattr(snapshots_module, "unpacked", lambda body, most: unpacked.append(body) or body)
    monkeypatch.setattr(snapshots_module, "READING", 0.0)
    for _ in range(READERS):
        assert snapshots._readers.acquire(timeout=0.0)
    with pytest.raises(InputError, match="E2706"):
        snapshots.keep(HUNGRY, "json")
    assert not unpacked
