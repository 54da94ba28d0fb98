"""A Ray cluster that loses a node, or its head, in the middle of a decision."""

import os
import re
import signal
import subprocess
import sys
from threading import Thread

import pytest
from tests.builders import engine_jobs, parted_cluster
from tests.builders.ray_cluster import ROOT, RayCluster, connected, killed_when_busy, ray_cluster, waited

import bayplan as bp
from bayplan.engine import EngineLostError, Job, engine_of

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def undisturbed():
    return parted_cluster.collocated("here")


def test_collocate_gives_the_same_answer_as_in_this_process(ray_engine, undisturbed):
    stages = []
    answer = parted_cluster.collocated(ray_engine, threads=2, progress=lambda tick: stages.append((tick.stage, tick.done)))
    assert answer.placement.machine_of.tolist() == undisturbed.placement.machine_of.tolist()
    assert answer.score == undisturbed.score
    solving = [done for stage, done in stages if stage == "solving"]
    assert len(solving) == 1 + parted_cluster.PARTS
    assert solving == sorted(solving)
    assert not multi_used_only_one_node(ray_engine)


def multi_used_only_one_node(engine):
    """Do jobs of one second each all run on one node?"""
    return len({session for session, _ in engine.run([Job(name="job", call=engine_jobs.host)] * 9, workers=1)}) == 1


def test_a_node_killed_in_the_middle_of_collocate_changes_nothing_and_is_named(
    ray_nodes: RayCluster, ray_engine, undisturbed, caplog
):
    killed = []
    node = ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    answer = parted_cluster.collocated(ray_engine)
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert answer.placement.machine_of.tolist() == undisturbed.placement.machine_of.tolist()
    lost = re.compile(
        rf"job 'part \d of 3' was lost: its (node|worker on) {re.escape(node.ip)} died; "
        r"it is repeated elsewhere \(attempt 2 of 3\)"
    )
    assert any(lost.search(record.getMessage()) for record in caplog.records), caplog.text
    assert any(lost.search(note) for note in answer.result.notes), answer.result.notes


def test_ctrl_c_keeps_the_best_so_far_and_ends_the_jobs_at_once(ray_nodes: RayCluster, tmp_path):
    file, out = tmp_path / "parted.json", tmp_path / "new.json"
    bp.write(parted_cluster.snapshot(), file)
    words = [
        "collocate",
        str(file),
        "--method",
        "rasa",
        "--seconds",
        "120",
        "--engine",
        f"ray:{ray_nodes.address}",
        "--out",
        str(out),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "bayplan", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd=ROOT,
    )
    waited(lambda: any(node.busy() for node in ray_nodes.nodes), seconds=90.0)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert b"interrupted: this is the best so far" in err
    assert process.returncode == 0
    assert out.exists()
    waited(lambda: not any(node.busy() for node in ray_nodes.nodes), seconds=15.0)


def test_a_head_that_is_killed_is_named_and_the_best_so_far_is_kept(ray_nodes: RayCluster, undisturbed):
    with ray_cluster(workers=0) as cluster, connected(cluster) as engine:  # one part at a time: the last has not begun
        before = []

        def kill_after_the_first(tick):
            if tick.stage == "solving" and tick.done > 0 and not before:
                before.append(tick.done)
                cluster.nodes[0].kill()

        answer = parted_cluster.collocated(engine, progress=kill_after_the_first)
        head = (
            rf"engine 'ray:{cluster.address}' is lost: the head of the Ray cluster at {cluster.address} does not answer any more"
        )
        assert any(re.fullmatch(head, note) for note in answer.result.notes), answer.result.notes
        assert any("left as they run (interrupted, out of time, or lost)" in note for note in answer.result.notes)
        assert answer.before["affinity"] < answer.score["affinity"] < undisturbed.score["affinity"]
        assert not len(answer.placement.unplaced)


def test_a_head_that_dies_before_anything_came_back_is_an_error():
    with ray_cluster(workers=0) as cluster, connected(cluster) as engine:
        Thread(target=killed_when_busy, args=(cluster.nodes[0], [])).start()
        with pytest.raises(EngineLostError, match=r"does not answer any more|its driver died"):
            engine.run([Job(name="long", call=engine_jobs.asleep)], workers=1)
        with pytest.raises(bp.WorldError, match="nothing answers at"):
            engine.run([Job(name="next", call=engine_jobs.doubled, arguments=(1,))], workers=1)
    assert engine_of("here").run([Job(name="job", call=engine_jobs.doubled, arguments=(1,))], workers=1) == [2]
