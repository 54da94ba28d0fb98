"""Streams of two traces: on a tiny copy of their form, and on the real ones."""

import numpy as np
import pytest

from bayplan.errors import InputError, UsageError
from bayplan.formats import read_any, write
from bayplan.generate.azure_clusters import azure_clusters
from bayplan.generate.container_clusters import REQUEST_CAP, TRAFFIC, UNIT, largest_use

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
BATCHES = 60


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Batches of 2, 3 and 2 machines in turn, one each slot; one application of two members, one of three, one without calls."""
    folder = tmp_path_factory.mktemp("traces")
    batch = [number for number in range(BATCHES) for _ in range(2 + (number % 3 == 1))]
    vms = {
        "split": ["dev"] * len(batch),
        "arrival_s": [300 * number for number in batch],
        "batch_id": batch,
        "vcpu": [1 + number % 2 for number in range(len(batch))],
        "mem_gb": [1.75] * len(batch),
        "censored": [0] * len(batch),
        "dur_lo_s": [600 * (number % 5) for number in batch],
        "dur_hi_s": [600 * (number % 5) for number in batch],
    }
    nodes = {"service": ["a", "a", "b", "b", "b", "c", "c"], "node": ["x", "y", "x", "y", "z", "x", "y"]}
    edges = {"service": ["a", "b", "b"], "src": ["x", "x", "z"], "dst": ["y", "y", "x"], "calls": [7, 100, 25]}
    for name, columns in (
        ("azure_v1_vms/azure_v1_vms", vms),
        ("alibaba_callgraphs/nodes", nodes),
        ("alibaba_callgraphs/edges", edges),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return str(folder)


def test_batches_keep_their_size_arrival_and_lifetime(traces):
    stream = azure_clusters(folder=traces, count=20, slots=30, seed=3)
    assert len(stream.requests) == 20 and len(stream.zones.name) == 9
    for request in stream.requests:
        number = int(request.name.removeprefix("batch"))
        assert len(request.members) == 2 + (number % 3 == 1)
        assert request.arrival == request.start and request.end <= 30
        assert request.end - request.start == min(1 + 2 * (number % 5), 30 - request.start)
    starts = [request.start for request in stream.requests]
    assert starts == sorted(starts) and len(set(starts)) == 20


def test_traffic_is_an_applications_with_as_many_members_the_busiest_pair_at_ten(traces):
    for request in azure_clusters(folder=traces, count=20, slots=30).requests:
        found = sorted(request.traffic[request.traffic > 0].tolist())
        assert found == ([TRAFFIC * UNIT] if len(request.members) == 2 else [2.5 * UNIT, TRAFFIC * UNIT])


def test_values_follow_section_vi(traces):
    ratio = [
        r.value / largest_use(r.demand, r.traffic) for r in azure_clusters(folder=traces, value_ratio=3.0, count=40).requests
    ]
    assert 1 <= min(ratio) < 1.3 and 2.7 < max(ratio) <= 3


def test_a_machine_of_eight_cores_takes_the_cap(traces):
    for request in azure_clusters(folder=traces, count=20).requests:
        assert set(request.demand[:, 0].tolist()) <= {REQUEST_CAP * UNIT // 8, REQUEST_CAP * UNIT // 4}  # one or two cores
        assert set(request.demand[:, 1].tolist()) == {REQUEST_CAP * UNIT // 16}  # 1.75 of 28 GB


def test_load_scales_zones_and_links_down_to_the_cap(traces):
    low, high, crowded = (azure_clusters(folder=traces, count=20, load=load).zones for load in (0.001, 0.002, 1e6))
    assert np.allclose(low.capacity, 2 * high.capacity, rtol=0.01) and np.allclose(low.bandwidth, 2 * high.bandwidth, rtol=0.01)
    assert (crowded.capacity == REQUEST_CAP * UNIT).all()


def test_a_window_with_too_few_batches_is_laid_over_others(traces):
    stream = azure_clusters(folder=traces, count=BATCHES, slots=4)
    assert len(stream.requests) == BATCHES and {request.start for request in stream.requests} == {0, 1, 2, 3}
    order = [int(r.name.removeprefix("batch")) for r in stream.requests if r.start == 0]
    assert order != sorted(order)  # drawn


def test_the_seed_decides(traces):
    one, same, other = (azure_clusters(folder=traces, count=10, slots=30, seed=seed) for seed in (1, 1, 2))
    assert [r.value for r in one.requests] == [r.value for r in same.requests] != [r.value for r in other.requests]


def test_wrong_settings_and_missing_traces_are_named(traces, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"members are 1 to 9.*load is 0"):
        azure_clusters(folder=traces, members_least=1, members_most=9, load=0.0)
    with pytest.raises(UsageError, match="count is 61; the trace has 60"):
        azure_clusters(folder=traces, count=61)
    with pytest.raises(InputError, match="E1801"):
        azure_clusters(folder=str(tmp_path))
    monkeypatch.delenv("BAYPLAN_DATA", raising=False)
    with pytest.raises(UsageError, match="BAYPLAN_DATA"):
        azure_clusters()


def test_the_folder_may_come_from_the_environment(traces, monkeypatch, tmp_path):
    (tmp_path / "traces").symlink_to(traces)
    monkeypatch.setenv("BAYPLAN_DATA", str(tmp_path))
    file = tmp_path / "azure.json"
    write(azure_clusters(count=5), file)
    assert len(read_any(file).requests) == 5


@pytest.mark.data
def test_the_real_traces_put_the_stated_load_on_the_zones(data_folder):
    loads = []
    for seed in range(8):
        stream = azure_clusters(folder=str(data_folder / "traces"), seed=seed)
        work = sum(request.demand.sum(axis=0) * (request.end - request.start) for request in stream.requests)
        loads.append(work / (stream.zones.capacity.sum(axis=0) * 100))
    assert np.mean(loads, axis=0) == pytest.approx([1.0, 1.0], abs=0.2)
