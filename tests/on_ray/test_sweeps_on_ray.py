"""Sweeps on a Ray cluster: the same rows and points as in this process, also if a node is lost in the middle."""

import re
import time
from dataclasses import replace
from functools import partial
from threading import Thread

import pytest
from experiments.cradle import run as cradle
from experiments.cradle.cells import FACTS, KEY, LOCAL_SEARCH, cells, measured_by_cpu
from experiments.cradle.settings import QUICK
from experiments.results import rows
from experiments.sweeps import Runs, sweep
from tests.builders import odd_schedulers, sweep_cells
from tests.builders.ray_cluster import RayCluster, waited

import bayplan as bp
from bayplan.api.requests import sweep as sweep_module
from bayplan.api.requests.sweep import sweep_machines
from bayplan.cli.main import main
from bayplan.engine import engine_of
from bayplan.model import Budget

pytestmark = pytest.mark.ray

SAME = (*KEY, *FACTS, "served", "value", "used", "width", "broken")  # what does not depend on seconds


def lost(name, node):
    """What is said of a job that was lost with a node."""
    where = rf"its (node|worker on) {re.escape(node.ip)} died"
    return re.compile(rf"job '{name}' was lost: {where}; it is repeated elsewhere \(attempt 2 of 3\)")


def killed_when_busy(node, killed):
    """Kill a node in the middle of a job."""
    while not killed:
        waited(node.busy, seconds=180.0)
        time.sleep(0.3)
        if node.busy():
            killed.append(node.name)
            node.kill()


def said(caplog):
    return [record.getMessage() for record in caplog.records]


def comparable(path):
    """The columns of cradle's rows that are the same in every run."""
    return [tuple(row[name] for name in SAME) for row in rows(path) if row["method"] != LOCAL_SEARCH]


def test_a_node_killed_in_the_middle_of_reproduce_changes_no_row_and_is_named(
    ray_nodes: RayCluster, ray_engine, tmp_path, caplog
):
    cradle.main(["--quick", "--out", str(tmp_path / "here")])
    killed, node = [], ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    words = ["reproduce", "cradle", "--quick", "--engine", f"ray:{ray_nodes.address}", "--out", str(tmp_path / "ray")]
    assert main(words) == 0
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert comparable(tmp_path / "ray" / "cells.csv") == comparable(tmp_path / "here" / "cells.csv")
    assert len(rows(tmp_path / "ray" / "cells.csv")) == len(cells(QUICK))
    assert any(lost(".*", node).search(text) for text in said(caplog)), caplog.text


def test_the_rows_of_a_sweep_are_in_order_although_a_node_was_killed(ray_nodes: RayCluster, ray_engine, tmp_path, caplog):
    path, some = tmp_path / "cells.csv", [sweep_cells.Cell(name="a", seed=seed, seconds=1.0) for seed in range(9)]
    killed, node = [], ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    sweep(path, sweep_cells.KEY, some, sweep_cells.measured, Runs(engine=ray_engine))
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert [(row["seed"], row["square"]) for row in rows(path)] == [(str(seed), str(seed**2)) for seed in range(9)]
    assert any(lost(r"a \d", node).search(text) for text in said(caplog)), caplog.text


def test_a_worker_without_the_clone_is_named_in_one_sentence(ray_engine, tmp_path):
    path, some = tmp_path / "cells.csv", [sweep_cells.Cell(name="a", seed=seed) for seed in range(3)]
    with pytest.raises(
        SystemExit, match=r"^the worker on '.*' \(.*\) has no module 'clone_of_mine'; expected the modules of this"
    ):
        sweep(path, sweep_cells.KEY, some, sweep_cells.only_here(), Runs(engine=ray_engine))
    assert not path.exists()


def test_workers_of_ray_started_here_find_the_clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep(tmp_path / "cells.csv", KEY, cells(QUICK)[:2], partial(measured_by_cpu, scope=QUICK), Runs(engine=engine_of("ray")))
    assert len(rows(tmp_path / "cells.csv")) == 2


# ---- schedule ------------------------------------------------------------------------------------------------------------------


def points(answer):
    return [replace(point, seconds=0.0) for point in answer.points]


def test_a_node_killed_in_the_middle_of_a_sweep_of_schedule_changes_no_point_and_is_noted(
    ray_nodes: RayCluster, ray_engine, monkeypatch
):
    day = bp.generate("requests", n=300, machines=4, load=2.0, seed=1)
    undisturbed = sweep_machines(day, range(1, 9), serve=0.5, budget=Budget(), engine="here")
    monkeypatch.setattr(sweep_module, "method_of", lambda verb, name: odd_schedulers.slow)
    killed, node = [], ray_nodes.nodes[-1]
    thread = Thread(target=killed_when_busy, args=(node, killed))
    thread.start()
    answer = sweep_machines(day, range(1, 9), serve=0.5, budget=Budget(), engine=ray_engine)
    thread.join()
    ray_nodes.replace(node, ray_engine)
    assert killed == [node.name]
    assert points(answer) == points(undisturbed)
    assert answer.fewest == undisturbed.fewest
    assert any(lost(r"\d machines", node).search(note) for note in answer.result.notes), answer.result.notes
