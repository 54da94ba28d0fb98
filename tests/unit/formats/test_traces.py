"""The traces: counts as published, and numbered faults for files that are not they."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from bayplan.check import check
from bayplan.errors import InputError, UsageError
from bayplan.formats.traces import (
    TIANCHI_SETS,
    TRACES,
    azure_batches,
    read_azure,
    read_callgraphs,
    read_dlrm,
    read_dlrm_requests,
    read_google2011,
    read_google2011_jobs,
    read_huawei,
    read_tianchi,
)
from bayplan.model import AntiAffinity, Interference

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

READERS = [
    read_azure,
    azure_batches,
    read_callgraphs,
    read_dlrm,
    read_dlrm_requests,
    read_google2011,
    read_google2011_jobs,
    read_huawei,
    read_tianchi,
]


def put(folder, name, columns):
    pq.write_table(pa.table(columns), folder / name)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_missing_file_is_named(reader, tmp_path):
    with pytest.raises(InputError, match=r"E1801 file '.*(parquet|csv\.gz)'"):
        reader(tmp_path)


@pytest.mark.parametrize("name", TRACES)
def test_every_trace_of_the_registry_names_its_missing_file_or_its_reader(name, tmp_path):
    trace = TRACES[name]
    assert "\n" not in trace.about
    if trace.read is None:
        assert "`read_" in trace.about
    else:
        with pytest.raises(InputError, match="E1801"):
            trace.read(tmp_path, 0)


def test_without_pyarrow_the_user_is_told_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "huawei_east1_lifetimes.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'bayplan\[data\]'"):
        read_huawei(tmp_path)


def test_a_file_that_is_not_parquet_is_refused(tmp_path):
    (tmp_path / "huawei_east1_lifetimes.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(InputError, match="E1803"):
        read_huawei(tmp_path)


def test_a_missing_column_is_named(tmp_path):
    put(tmp_path, "huawei_east1_lifetimes.parquet", {"vmid": [0], "cpu": [1], "at": [0.0]})
    with pytest.raises(InputError, match=r"E1802 column 'mem'.*there are vmid, cpu, at"):
        read_huawei(tmp_path)


def test_negative_and_missing_values_are_refused(tmp_path):
    columns = {"vmid": [0, 1], "cpu": [1, -2], "mem": [1, 1], "at": [0.0, None], "lt": [1.0, 1.0]}
    put(tmp_path, "huawei_east1_lifetimes.parquet", columns)
    with pytest.raises(InputError) as caught:
        read_huawei(tmp_path)
    assert "E1804 column 'cpu'" in str(caught.value)
    assert "E1804 column 'at'" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lt": [1.0, 0.0]}, "E1807 column 'lt'.*row 2, 1 rows in all"),
        ({"at": [0.0, 2.0**53], "lt": [1.0, 1e-9]}, "E1807"),  # too short to be seen
        ({"vmid": [4, 4]}, "E1806 machine 'vm4'.*2 times"),
        ({"cpu": [1, 2**60]}, "E1804 column 'cpu'.*row 2"),
        ({"mem": ["1", "much"]}, "E1804 column 'mem'.*2 rows"),
    ],
)
def test_rows_that_cannot_be_are_refused_by_number(tmp_path, change, says):
    columns = {"vmid": [0, 1], "cpu": [1, 2], "mem": [1, 1], "at": [0.0, 5.0], "lt": [1.0, 1.0]}
    put(tmp_path, "huawei_east1_lifetimes.parquet", columns | change)
    with pytest.raises(InputError, match=says):
        read_huawei(tmp_path)


def test_google_tasks_have_names_of_their_own_and_amounts_that_fit(tmp_path):
    columns = {"job": [7, 7], "idx": [0, 0], "submit_us": [0, 1], "end_us": [9, 9], "cpu": [0.1, 0.1], "mem": [0.1, 0.1]}
    put(tmp_path, "tasks_part0.parquet", columns | {"prio": [0, 0]})
    with pytest.raises(InputError, match="E1806 task '7-0'"):
        read_google2011(tmp_path)
    put(tmp_path, "tasks_part0.parquet", columns | {"prio": [0, 0], "mem": [0.1, 1e9]})
    with pytest.raises(InputError, match="E1804 column 'mem'"):
        read_google2011(tmp_path)


def test_google_ends_are_clipped_to_the_window(tmp_path):
    columns = {"job": [7, 7, 8], "idx": [0, 1, 0], "submit_us": [0, 10_000_000, 6_000_000_000], "prio": [0, 9, 1]}
    columns |= {"end_us": [None, 20_000_000, None], "cpu": [0.5, 0.125, 0.1], "mem": [0.1, 0.07446, 0.1]}
    put(tmp_path, "tasks_part0.parquet", columns)
    requests = read_google2011(tmp_path, value="priority", capacity=(0.5, 1.0))
    assert requests.name == ("7-0", "7-1")
    assert requests.end.tolist() == [5640.0, 20.0]
    assert requests.value.tolist() == [1.0, 10.0]
    assert requests.demand[1].tolist() == [12_500_000, 7_446_000]
    assert requests.capacity.tolist() == [50_000_000, 100_000_000]


def put_jobs(folder, **change):
    columns = {"job": [3, 4, 5, 6], "submit_us": [0, 2_000_000, 3_000_000, 4_000_000], "sclass": [0, 1, 1, 0]}
    put(folder, "jobs_29days.parquet", columns | {"end_us": [None, 9_000_000, 5_000_000, 4_000_000]} | change)
    put(folder, "tasks_part0.parquet", {"sclass": [0, 1, 1], "cpu": [0.5, 0.125, 0.25], "mem": [0.1, 0.07446, 0.2]})


def test_semi_real_jobs_have_the_demand_of_a_task_of_their_scheduling_class(tmp_path):
    put_jobs(tmp_path)
    requests = read_google2011_jobs(tmp_path, seed=1)
    assert requests.name == ("job3", "job4", "job5")  # job6 ended when it began
    assert requests.start.tolist() == [0.0, 2.0, 3.0]
    assert requests.end.tolist() == [9.0, 9.0, 5.0]  # job3 was alive at the end of the trace
    assert requests.demand[0].tolist() == [50_000_000, 10_000_000]
    drawn = {tuple(read_google2011_jobs(tmp_path, seed=seed).demand[1].tolist()) for seed in range(20)}
    assert drawn == {(12_500_000, 7_446_000), (25_000_000, 20_000_000)}


def test_semi_real_jobs_of_a_class_without_tasks_are_refused(tmp_path):
    put_jobs(tmp_path, sclass=[0, 1, 3, 0])
    with pytest.raises(InputError, match="E1805 scheduling class '3'"):
        read_google2011_jobs(tmp_path)
    put_jobs(tmp_path, job=[3, 3, 5, 6])
    with pytest.raises(InputError, match="E1806 job 'job3'"):
        read_google2011_jobs(tmp_path)


def azure_columns():
    columns = {
        "split": ["train", "dev", "dev", "test", "test"],
        "arrival_s": [0, 300, 300, 600, 600],
        "batch_id": [0, 1, 1, 2, 2],
    }
    columns |= {"vcpu": [1.0, 2.0, 4.0, 1.0, 1.0], "mem_gb": [1.0, 1.75, 3.5, 0.75, 0.75]}
    columns |= {
        "censored": [None, False, False, True, False],
        "dur_lo_s": [None, 0, 3900, 0, 0],
        "dur_hi_s": [None, 0, 7200, 0, 0],
    }
    return columns


def test_azure_lifetimes_stay_in_their_bin_on_the_grid(tmp_path):
    put(tmp_path, "azure_v1_vms.parquet", azure_columns())
    seen = set()
    for seed in range(30):
        requests = read_azure(tmp_path, seed=seed)
        assert requests.end[0] == 600.0  # a lifetime of 0: one slot
        seen.add(requests.end[1] - requests.start[1] - 300)
    assert seen <= {float(d) for d in range(3900, 7201, 300)}
    assert len(seen) > 3
    assert np.array_equal(read_azure(tmp_path, seed=1).end, read_azure(tmp_path, seed=1).end)


def test_azure_bounds_in_the_wrong_order_are_refused_by_number(tmp_path):
    put(tmp_path, "azure_v1_vms.parquet", azure_columns() | {"dur_lo_s": [None, 0, 7500, 0, 0]})
    with pytest.raises(InputError, match=r"E1807 column 'dur_hi_s'.*row 2"):
        read_azure(tmp_path)


def test_azure_batches_leave_the_censored_out_unless_asked(tmp_path):
    put(tmp_path, "azure_v1_vms.parquet", azure_columns())
    (batch,) = azure_batches(tmp_path)
    assert (batch.name, batch.arrival, len(batch.members)) == ("batch1", 300.0, 2)
    assert batch.demand.tolist() == [[2, 175], [4, 350]]
    assert batch.end >= 300 + 3900 + 300
    assert len(azure_batches(tmp_path, censored=True)) == 2
    assert azure_batches(tmp_path, smallest=3) == ()


def test_call_graphs_leave_the_user_out_unless_asked(tmp_path):
    put(tmp_path, "nodes.parquet", {"service": ["s", "s", "s"], "node": ["USER", "a", "b"]})
    edges = {"service": ["s"] * 3, "src": ["USER", "a", "a"], "dst": ["a", "b", "b"], "calls": [9, 3, 4]}
    put(tmp_path, "edges.parquet", edges)
    (graph,) = read_callgraphs(tmp_path)
    assert graph.nodes == ("a", "b")
    assert graph.matrix().tolist() == [[0, 7], [0, 0]]
    assert read_callgraphs(tmp_path, with_user=True)[0].matrix()[0].tolist() == [0, 9, 0]
    assert read_callgraphs(tmp_path, smallest=3) == ()


def test_call_graphs_name_an_unknown_node(tmp_path):
    put(tmp_path, "nodes.parquet", {"service": ["s"], "node": ["a"]})
    put(tmp_path, "edges.parquet", {"service": ["s"], "src": ["a"], "dst": ["ghost"], "calls": [1]})
    with pytest.raises(InputError, match="E1805 node 'ghost'"):
        read_callgraphs(tmp_path)


def tianchi(folder):
    constant = {"disk": [40.0, 60.0], "P": [0, 1], "M": [0, 0], "PM": [0, 1]}
    put(
        folder,
        "app_resources.parquet",
        {"app": ["x", "y"], "cpu": [[1.0, 3.0], [0.5, 0.5]], "mem": [[2.0, 2.0], [4.0, 8.0]], **constant},
    )
    put(folder, "app_interference.parquet", {"app_a": ["x", "x"], "app_b": ["y", "x"], "max_b_with_a": [0, 2]})
    put(folder, "deploy_semi_a.parquet", {"inst": ["i1", "i2", "i3"], "app": ["y", "x", "y"], "machine": ["m2", None, "m1"]})
    machine = {"cpu": [32, 92], "mem": [64, 288], "disk": [600, 1024], "P": [7, 7], "M": [3, 7], "PM": [7, 9]}
    put(folder, "machines_semi_a.parquet", {"machine": ["m1", "m2"], **machine})


def test_tianchi_curves_become_peaks_or_means(tmp_path):
    tianchi(tmp_path)
    snapshot = read_tianchi(tmp_path, "semi_a")
    cluster = snapshot.cluster
    assert cluster.workloads.request.tolist() == [[3_000_000, 2_000_000, 40, 0, 0, 0], [500_000, 8_000_000, 60, 1, 0, 1]]
    assert cluster.workloads.usage_mean[0, 0] == 2_000_000.0
    assert cluster.workloads.usage_std[0, 0] == 1_000_000.0
    assert cluster.rules[1:] == (Interference(a=0, b=1, limit=0), Interference(a=0, b=0, limit=3))
    assert cluster.containers.name == ("i2", "i1", "i3")
    assert snapshot.placement.machine_of.tolist() == [-1, 1, 0]
    assert read_tianchi(tmp_path, "semi_a", request="mean").cluster.workloads.request[1, 1] == 6_000_000


def test_tianchi_rows_that_cannot_be_are_refused_by_number(tmp_path):
    tianchi(tmp_path)
    put(tmp_path, "deploy_semi_a.parquet", {"inst": ["i1", "i1"], "app": ["y", "x"], "machine": ["m2", None]})
    with pytest.raises(InputError, match="E1806 instance 'i1'"):
        read_tianchi(tmp_path, "semi_a")
    machine = {name: [0, 1] for name in ("cpu", "mem", "disk", "P", "M", "PM")}
    put(tmp_path, "machines_semi_a.parquet", {"machine": ["m1", "m2"], **machine})
    with pytest.raises(InputError, match="E1808 machine 'm1'"):
        read_tianchi(tmp_path, "semi_a")
    put(tmp_path, "machines_semi_a.parquet", {"machine": ["m1", "m1"], **machine})
    with pytest.raises(InputError, match="E1806 machine 'm1'"):
        read_tianchi(tmp_path, "semi_a")


def test_tianchi_has_no_other_sets(tmp_path):
    with pytest.raises(UsageError, match="prelimB, semi_a, semi_b, semi_c"):
        read_tianchi(tmp_path, "semi_z")


HEAD = (
    "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,memory_request,"
    "memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,scheduled_time,deletion_time\n"
)
ROWS = (
    "i0,HN,app,12,12,1,1,25,25,120.0,120.0,640.0,800.0,8,,,\n"
    "i1,CN,app,48,48,0,0,50,50,200.5,200.5,680.0,680.0,-1,,,900\n"
    "i2,CN,app,96,96,0,0,50,50,200.5,200.5,680.0,680.0,-1,,,900\n"
    "i3,CN,app,48,48,0,0,50,50,200.5,200.5,680.0,680.0,-1,500,500,\n"
)
DLRM = "disaggregated_DLRM_trace.csv.gz"


def test_dlrm_instances_that_are_alike_are_one_workload(tmp_path):
    (tmp_path / DLRM).write_bytes(gzip.compress((HEAD + ROWS).encode()))
    snapshot = read_dlrm(tmp_path, at=600)
    cluster = snapshot.cluster
    assert cluster.workloads.name == ("app-CN-1", "app-CN-2", "app-HN")
    assert cluster.replicas.tolist() == [2, 1, 1]
    assert cluster.rules[1:] == (AntiAffinity(workloads=(2,), limit=8),)
    assert cluster.traffic.weight.sum() == pytest.approx(25.0)  # the HN side is the smaller one
    assert snapshot.placement.placed.size == 0
    assert any(note.startswith("synthetic") for note in snapshot.notes)
    assert len(read_dlrm(tmp_path).cluster.containers.name) == 3
    assert len(read_dlrm(tmp_path, machines=(5, 6)).cluster.machines.name) == 11
    assert read_dlrm_requests(tmp_path, window=600).end.tolist() == [600.0] * 4


def test_dlrm_rows_that_are_no_numbers_are_named(tmp_path):
    (tmp_path / DLRM).write_bytes(gzip.compress((HEAD + ROWS.replace("i1,CN,app,48", "i1,CN,app,-48")).encode()))
    with pytest.raises(InputError, match="E1804 instance 'i1'"):
        read_dlrm(tmp_path)
    (tmp_path / DLRM).write_bytes(gzip.compress((HEAD + ROWS.replace("i1,CN,app,48,48", "i1,CN,app,48,40")).encode()))
    with pytest.raises(InputError, match=r"E1804 instance 'i1'.*a limit is below its request"):
        read_dlrm(tmp_path)
    (tmp_path / DLRM).write_bytes(gzip.compress((HEAD + ROWS.replace("i1,", "i0,")).encode()))
    with pytest.raises(InputError, match="E1806 instance 'i0'"):
        read_dlrm(tmp_path)
    (tmp_path / DLRM).write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(InputError, match="E1802 column 'instance_sn'"):
        read_dlrm(tmp_path)
    (tmp_path / DLRM).write_bytes(b"not gzip")
    with pytest.raises(InputError, match="E1803"):
        read_dlrm(tmp_path)


@pytest.mark.data
def test_request_traces_have_the_published_counts(data_folder):
    google = read_google2011(data_folder / "traces" / "google2011")
    assert len(google.name) == 190_926
    assert (google.start == 0).sum() == 144_339
    assert google.end.max() == 5640.0
    assert not (2 * google.demand[:, 0] > google.capacity[0]).any()  # no task asks for more than half a machine's cpu
    jobs = read_google2011_jobs(data_folder / "traces" / "google2011")
    assert len(jobs.name) == 672_074
    assert jobs.end.max() == pytest.approx(29 * 86_400, rel=1e-3)
    assert len(read_huawei(data_folder / "traces" / "huawei_east1").name) == 116_313
    assert len(read_azure(data_folder / "traces" / "azure_v1_vms").name) == 669_435


@pytest.mark.data
def test_batches_and_call_graphs_have_the_published_counts(data_folder):
    folder = data_folder / "traces" / "azure_v1_vms"
    batches = azure_batches(folder)
    assert len(batches) == 42_173
    assert all(2 <= len(batch.members) <= 8 and batch.arrival < batch.end for batch in batches)
    assert np.all(np.diff([batch.arrival for batch in batches]) >= 0)
    assert len(azure_batches(folder, censored=True)) == 46_536
    graphs = read_callgraphs(data_folder / "traces" / "alibaba_callgraphs")
    assert len(graphs) == 2_014
    assert sum(2 <= len(graph.nodes) <= 8 for graph in graphs) == 1_810


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "machines", "placed", "cpu", "memory", "over"),
    [
        ("prelimB", 6000, 61_254, 0.730, 0.614, 1677),
        ("semi_a", 8000, 68_224, 0.369, 0.281, 2029),
        ("semi_b", 8000, 68_224, 0.369, 0.281, 2018),
        ("semi_c", 9000, 68_224, 0.580, 0.519, 2488),
    ],
)
def test_tianchi_layouts_have_the_published_counts(data_folder, name, machines, placed, cpu, memory, over):
    assert name in TIANCHI_SETS
    snapshot = read_tianchi(data_folder / "traces" / "alibaba_tianchi2018", name)
    cluster, on = snapshot.cluster, snapshot.placement.placed
    assert (len(cluster.machines.name), len(on), len(cluster.containers.name)) == (machines, placed, 68_224)
    assert (len(cluster.workloads.name), len(cluster.rules)) == (9_338, 1 + 33_416)
    ratio = (cluster.workloads.request * cluster.replicas[:, None]).sum(axis=0) / cluster.machines.capacity.sum(axis=0)
    assert ratio[:2].round(3).tolist() == [cpu, memory]
    load = np.zeros_like(cluster.machines.capacity)
    np.add.at(load, snapshot.placement.machine_of[on], cluster.request_of(on))
    assert (load > cluster.machines.capacity).any(axis=1).sum() == over


@pytest.mark.data
def test_dlrm_has_the_published_counts(data_folder):
    folder = data_folder / "traces" / "alibaba_dlrm2025"
    requests = read_dlrm_requests(folder)
    assert len(requests.name) == 23_871 - 15  # 15 were deleted when they were created
    snapshot = read_dlrm(folder)
    assert len(snapshot.cluster.containers.name) == 7_280


def test_the_docs_name_every_trace():
    section = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8").split("## Traces")[1]
    assert [name for name in TRACES if f"`{name}`" not in section] == []


def test_a_file_in_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "shop.json").write_text("{}")
    with pytest.raises(InputError, match=r"E1801 file '.*shop.json': is a file; expected the folder of the trace"):
        TRACES["azure_v1_vms"].read(tmp_path / "shop.json", 0)


@pytest.mark.data
@pytest.mark.parametrize("name", TIANCHI_SETS)
def test_tianchi_layouts_fit_at_every_point_of_the_day_and_by_their_means(name, data_folder):
    folder = data_folder / "traces" / "alibaba_tianchi2018"
    snapshot = read_tianchi(folder, name, request="mean")
    cluster, placement = snapshot.cluster, snapshot.placement
    assert check(cluster, placement) == ()  # limits included
    apps = pq.read_table(folder / "app_resources.parquet", columns=["cpu", "mem"])
    where = placement.machine_of[placement.placed]
    for r, field in enumerate(["cpu", "mem"]):
        curve = np.array(apps[field].to_pylist(), dtype=np.float64)  # (app, point)
        load = np.zeros((len(cluster.machines.name), curve.shape[1]))
        np.add.at(load, where, curve[cluster.containers.workload[placement.placed]])
        capacity = cluster.machines.capacity[:, r] / cluster.resources[r].scale
        assert (load <= capacity[:, None] + 1e-3).all()  # the curves are float32
