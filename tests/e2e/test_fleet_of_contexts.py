"""A fleet whose clusters are Kubernetes contexts: collected, planned, as zones, and one that cannot be reached."""

import json
from pathlib import Path

import pytest
from tests.builders.api_server import api_server, write_kubeconfig

import bayplan as bp
from bayplan.cli.main import main
from bayplan.formats.clusters import ContextState
from bayplan.kubernetes.fleet import collected_fleet

ROOT = Path(__file__).parents[2]
FLEET = """
bayplan: 1
kind: clusters
clusters:
- {name: prod, context: prod, namespaces: [shop]}
- {name: berlin, file: EXAMPLES/clusters/berlin.json}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a fleet of a context and a file; the context `prod` leads to a server, `gone` to none."""
    monkeypatch.setattr("bayplan.api.fleet.plan.GRACE", (1.0, 600.0))
    monkeypatch.chdir(tmp_path)
    with api_server(ROOT / "examples" / "kubectl.json") as address:
        write_kubeconfig(tmp_path / "config", prod=address, gone="http://127.0.0.1:9")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        (tmp_path / "fleet.yaml").write_text(FLEET.replace("EXAMPLES", str(ROOT / "examples")), encoding="utf-8")
        yield tmp_path


def planned(capsys, *arguments):
    code = main(["plan", *arguments, "--seconds", "2", "--engine", "here", "--json", "-q"])
    return code, json.loads(capsys.readouterr().out)


def balanced(folder):
    """The plans of the fleet, by iterations: a move costs nothing, and half of a workload may be down."""
    fleet = collected_fleet(bp.read_fleet("fleet.yaml"), folder)
    budget = bp.Budget(iterations=20_000)
    return bp.plan_fleet(fleet, goal="balance", weights={"price": 0.0}, alive=0.5, budget=budget, engine="here")


def test_a_context_is_planned_beside_a_file(folder):
    answer = balanced(folder)
    prod = answer.rows[0]
    assert (prod.file, prod.machines, prod.containers, prod.moves) == ("context prod", 4, 5, 1)
    assert answer.complete and answer["berlin"].moves
    (move,) = answer["prod"].moves
    assert move.container.startswith("shop/web-")


def test_pods_are_replaced_within_their_disruption_budget(folder):
    steps = [step for batch in json.loads(balanced(folder)["prod"].plan_text)["batches"] for step in batch]
    assert [step["action"] for step in steps] == ["delete", "create"]  # never a second pod first
    fleet = collected_fleet(bp.read_fleet("fleet.yaml"), folder)
    assert fleet.clusters[0].collected == ContextState(needed={"shop/web": 2})


def test_the_command_line_collects_contexts_itself(folder, capsys):
    code, answer = planned(capsys, "fleet.yaml", "--max-moves", "4", "--out", "plans")
    assert code == 0
    assert [cluster["file"] for cluster in answer["details"]["clusters"]] == [
        "context prod",
        str(ROOT / "examples" / "clusters" / "berlin.json"),
    ]


def test_a_context_that_does_not_answer_does_not_stop_the_others(folder, capsys):
    (folder / "fleet.yaml").write_text(
        (folder / "fleet.yaml").read_text(encoding="utf-8").replace("context: prod", "context: gone"), encoding="utf-8"
    )
    code, answer = planned(capsys, "fleet.yaml", "--max-moves", "4")
    assert code == 1
    assert [entry["name"] for entry in answer["left_out"]] == ["prod"]
    assert "the API server does not answer" in answer["left_out"][0]["reason"]
    assert answer["details"]["clusters"][1]["status"] in ("planned", "no change")


def test_a_context_is_a_zone_of_admit(folder, capsys):
    assert main(["convert", "fleet.yaml", "--to", "zones", "--out", "zones.json", "-q"]) == 0
    zones = json.loads((folder / "zones.json").read_text(encoding="utf-8"))["zones"]
    assert [zone["name"] for zone in zones] == ["prod", "berlin"]
    assert main(["admit", str(ROOT / "examples" / "stream.csv"), "--zones", "zones.json", "--method", "available", "-q"]) == 0


def test_the_library_says_that_a_context_has_to_be_collected(folder):
    answer = bp.plan_fleet("fleet.yaml", engine="here", budget=bp.Budget(iterations=10))
    assert answer.failures() == [
        "prod ('context prod'): it was not collected; expected bayplan.kubernetes.collected_fleet, as the command line does"
    ]
