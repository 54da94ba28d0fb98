"""A plan for a whole cluster, carried out and taken back by the command line, while a watcher of its own sees every instant."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.objects import Json
from tests.kubernetes.real_cluster import ControlPlane
from tests.kubernetes.shops import make_shop
from tests.kubernetes.watcher import Watcher

import bayplan as bp
from bayplan.api.planning.answer import PlanAnswer
from bayplan.cli.main import main
from bayplan.kubernetes.client import Client
from bayplan.score.goal.state_figures import local_share

pytestmark = pytest.mark.kubernetes


def test_a_plan_is_carried_out_as_promised_and_taken_back(
    control_plane: ControlPlane,
    client: Client,
    namespace: str,
    kubeconfig: Path,
    fake_nodes: Callable[..., list[str]],
    make: Callable[[Json], Json],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before_all = cluster_wide_objects(client)
    fake_nodes(100, zones=("zone-a", "zone-b", "zone-c"))
    shop = make_shop(client, namespace, make, deployments=60, replicas=17)
    look = shop.orchestrator()
    plan = bp.plan(look.observe().snapshot, seconds=15, seed=0, max_moves="8%", way="replace", alive=0.75)
    assert plan.moved > 40
    file, store, before = tmp_path / "plan.json", tmp_path / "record.db", shop.where()
    plan.save(file)
    where = ["--kubeconfig", str(kubeconfig), "--context", "tests", "--store", str(store), "--json"]
    with Watcher(control_plane.kubeconfig) as watcher:
        capsys.readouterr()
        assert main(["apply", str(file), *where]) == 0  # a dry run
        assert json.loads(capsys.readouterr().out)["headline"].startswith("Safe: would move")
        assert shop.where() == before
        assert watcher.evicted == 0
        assert main(["apply", str(file), *where, "--settle", "0s", "--yes"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["status"], said["done"]["moved"]) == ("done", plan.moved)
        assert {name: node for name, node in shop.where().items() if node != before[name]} == _planned(plan)
        now = look.observe().snapshot
        assert local_share(now.cluster, now.placement) == pytest.approx(plan.figures.after.local)
        assert main(["rollback", "latest", *where]) == 0
        assert json.loads(capsys.readouterr().out)["status"] == "rolled-back"
        assert shop.where() == before
        assert main(["status", "--store", str(store)]) == 0
        assert "Nothing is under way" in capsys.readouterr().out
    assert watcher.violations == []
    assert watcher.gated == []
    assert watcher.instants > 1000
    assert main(["uninstall", "--kubeconfig", str(kubeconfig), "--json", "--yes"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["policies"], found["gates"], found["leases"]) == (0, 0, 1)
    assert found["pods"] > 0
    assert {path for path in cluster_wide_objects(client) - before_all if "bayplan" in path} == set()


def _planned(plan: PlanAnswer) -> dict[str, str]:
    """Container -> node, of all that the plan moves."""
    cluster, after = plan.snapshot.cluster, plan.placement
    moved = after.moved_from(plan.snapshot.placement).tolist()
    return {cluster.containers.name[c]: cluster.machines.name[after.machine_of[c]] for c in moved}


@pytest.mark.parametrize("yes", [False, True])
def test_a_plan_for_another_cluster_is_refused(kubeconfig, tmp_path, fake_nodes, make, client, namespace, yes):
    fake_nodes(4)
    make_shop(client, namespace, make, deployments=2, replicas=3, constrained=False)
    snapshot = bp.generate("boutique")
    file = tmp_path / "plan.json"
    bp.plan(snapshot, seconds=1).save(file)
    command = ["apply", str(file), "--kubeconfig", str(kubeconfig), "--store", str(tmp_path / "record.db")]
    assert main([*command, *(["--yes"] if yes else [])]) != 0
