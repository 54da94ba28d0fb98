"""A simulated cluster in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from tests.builders.simulated_clusters import create, delete, done, reserve, where

import bayplan as bp
from bayplan.errors import UsageError, WorldError
from bayplan.operate.orchestrator import PermanentError, StepState, TemporaryError
from bayplan.operate.simulated import Faults, FaultyTime, SimulatedOrchestrator
from bayplan.operate.simulated.served import ClusterProcess, connect


def snapshot():
    builder = bp.ClusterBuilder("small").machines("m-{}", 4, cpu=4, memory="8Gi")
    return builder.workload("web", replicas=4, cpu=1, memory="1Gi", on=["m-0"] * 4).build()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with ClusterProcess(partial(SimulatedOrchestrator, snapshot()), str(folder / "socket")) as process:
        yield process


@pytest.fixture
def cluster(served):
    """A client; afterwards what it reserved is released and has settled."""
    client = served.connect()
    yield client
    client.inject(Faults())
    client.release("plan")
    client.wait(600)
    client.close()


def test_a_move_works_as_in_one_process(cluster):
    source = where(cluster)
    target = "m-1" if source != "m-1" else "m-2"
    steps = (
        create(cluster, target, surge=True, token="move-create"),
        delete(cluster, source, surge=True, token="move-delete"),
    )
    reserve(cluster, *steps)
    for step in steps:
        cluster.execute(step)
        assert done(cluster, step.token)
    assert where(cluster) == target
    assert len(cluster.instances()) == 4
    kinds = [instant.kind for instant in cluster.instants() if instant.token in ("move-create", "move-delete")]
    assert kinds == ["bound", "ready", "stopping", "gone"]
    assert cluster.loads().sum(axis=0)[0] == 4000


def test_errors_keep_their_type_and_their_fields(cluster):
    with pytest.raises(PermanentError, match="no container"):
        cluster.execute(replace(delete(cluster, where(cluster), token="wrong"), uid="web-0.999"))
    passed = cluster.now() - 1_735_516_800.0
    cluster.inject(Faults(outages=(FaultyTime(passed, 60),)))
    with pytest.raises(TemporaryError, match="does not answer") as raised:
        cluster.observe()
    assert raised.value.delay == 5.0


def test_two_clients_that_wait_for_an_hour_wait_for_the_same_one(served, cluster):
    other = served.connect()
    started = cluster.now()
    other.now()
    cluster.wait(3600)
    other.wait(3600)
    assert cluster.now() == other.now() == started + 3600
    other.wait(60)
    assert cluster.now() == started + 3660
    other.close()


def test_the_cluster_lives_on_when_a_client_is_killed_in_the_middle_of_its_work(served, cluster):
    source = where(cluster, 1)
    step = create(cluster, "m-3" if source != "m-3" else "m-2", container=1, surge=True, token="orphan")
    reserve(cluster, step)
    work = (
        "import sys\n"
        "from bayplan.operate.simulated.served import connect\n"
        "client = connect(sys.argv[1])\n"
        "print(client.now(), flush=True)\n"
        "while True:\n"
        "    client.observe()\n"
    )
    victim = subprocess.Popen([sys.executable, "-c", work, served.address], stdout=subprocess.PIPE, text=True)
    assert float(victim.stdout.readline()) == cluster.now()
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    victim.stdout.close()
    assert cluster.execute(step).state is StepState.RUNNING
    assert done(cluster, "orphan")
    assert connect(served.address).execute(step).state is StepState.DONE


def test_a_connection_that_broke_is_made_again(cluster):
    cluster.close()
    assert cluster.now() > 0


def test_a_wrong_key_is_not_answered(served, tmp_path):
    wrong = tmp_path / "key"
    wrong.write_bytes(b"wrong")
    with pytest.raises(WorldError, match="no simulated cluster answers"):
        connect(served.address, wrong)
    assert served.connect().now() > 0


def test_where_nothing_listens_the_error_says_so(tmp_path):
    (tmp_path / "none.key").write_bytes(b"key")
    with pytest.raises(WorldError, match="no simulated cluster answers"):
        connect(str(tmp_path / "none"))


def test_a_loopback_port_serves_too(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    with ClusterProcess(partial(SimulatedOrchestrator, snapshot()), address, tmp_path / "key") as process:
        client = process.connect()
        assert len(client.observe().containers) == 4
        client.close()


def test_only_the_loopback_interface_is_used():
    with pytest.raises(UsageError, match="expected the path"):
        connect("192.168.0.1:5000", "key")
    with pytest.raises(UsageError, match="file for the key"):
        connect("127.0.0.1:5000")
