"""The JSON of kubectl on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "kubectl.json"


def _run(*arguments, text=None):
    command = [sys.executable, "-m", "bayplan", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_show_says_how_many_pods_may_move_and_why_the_others_stay():
    done = _run("show", EXAMPLE)
    assert done.returncode == 0
    assert "5 of 10 running pods may move now" in done.stdout
    assert "belongs to a DaemonSet" in done.stdout


def test_show_as_json_has_the_same_numbers_from_a_pipe():
    done = _run("show", "-", "--json", text=EXAMPLE.read_text())
    assert json.loads(done.stdout)["pods"] == {
        "movable": 5,
        "stay": {"belongs to a DaemonSet": 4, "no owner that would replace it": 1},
    }


def test_a_namespace_is_a_scope():
    done = _run("show", EXAMPLE, "-n", "shop", "--json")
    shown = json.loads(done.stdout)
    assert shown["pods"] == {"movable": 5, "stay": {}}
    assert shown["counts"]["containers"] == 5


def test_explain_says_why_a_pod_stays():
    assert "it stays: no owner that would replace it" in _run("explain", EXAMPLE, "kube-system/debug").stdout
    assert json.loads(_run("explain", EXAMPLE, "kube-system/debug", "--json").stdout)["stays"].endswith("replace it")


def test_a_plan_empties_a_node_but_for_what_goes_with_it(tmp_path):
    done = _run(
        "plan", EXAMPLE, "--drain", "node-0", "--alive", "0.5", "--seconds", "3", "--out", tmp_path / "plan.json", "--json"
    )
    assert done.returncode == 0, done.stderr
    steps = [step for batch in json.loads((tmp_path / "plan.json").read_text())["batches"] for step in batch]
    left = {step["container"] for step in steps if step["action"] == "delete" and step["machine"] == "node-0"}
    assert left == {"shop/web-7d9-a", "shop/web-7d9-b", "shop/cart-7d9-a"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "nothing to read: expected a FILE, or --context CTX for a running cluster"),
        (["show", "x.json", "--context", "prod"], "'x.json' and a running cluster: expected one of the two"),
        (["show", "--context", "prod", "-n", "a", "-A"], "-n a and -A: expected one of the two"),
        (["show", str(EXAMPLE.parent / "shop.yaml"), "-A"], "is not the JSON of kubectl; expected no"),
        (["explain", "--context", "prod"], "nothing to explain: expected the NAME of a container or of a workload"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, message):
    done = _run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_list_without_nodes_has_a_number():
    done = _run("show", "-", text='{"apiVersion": "v1", "items": [], "kind": "List"}')
    assert done.returncode == 1
    assert "E2203" in done.stderr
