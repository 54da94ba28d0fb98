"""bayplan on a running cluster, as a process of its own: measures traffic, plans, and carries the plan out.

As `bayplan plan --context CTX --prometheus URL` and `bayplan apply PLAN --context CTX --yes` do, except that pods may be moved
that are younger than ten minutes: all of them are. Prints one JSON object.
"""

import contextlib
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bayplan as bp
from bayplan.cli.main import main as command
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import read_objects
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import collected
from bayplan.kubernetes.measure import MeasurementRequest
from bayplan.kubernetes.prometheus import MeasurementSettings
from experiments.kubernetes.settings import ALIVE, NAMESPACE


def planned_and_applied(asked: Mapping[str, Any]) -> dict[str, str]:
    """What was planned, and what became of it."""
    client = Client.connect(kubeconfig=asked["kubeconfig"])
    objects = read_objects(client, (NAMESPACE,))
    request = MeasurementRequest(prometheus=asked["prometheus"], settings=MeasurementSettings(traffic="istio", usage=False))
    measurements = request.of(objects, client, (NAMESPACE,))
    seen = collected(objects, scope=(NAMESPACE,), settings=CollectSettings(young=0.0), measurements=measurements)
    plan = bp.plan(
        seen.pinned,
        goal=asked["goal"],
        max_moves=asked["max_moves"],
        seconds=asked["seconds"],
        seed=0,
        way="replace",
        alive=ALIVE,
    )
    file = Path(asked["folder"]) / "plan.json"
    plan.save(file)
    promised = {"planned": str(plan.moved), "promised": f"{plan.figures.after.local:.5g}"}
    return promised | (_applied(file, asked) if plan.moved else {"moved": "0", "status": "nothing to do"})


def _applied(file: Path, asked: Mapping[str, Any]) -> dict[str, str]:
    words = ["apply", str(file), "--kubeconfig", asked["kubeconfig"], "-n", NAMESPACE, "--alive", str(ALIVE)]
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer):
        command([*words, "--store", str(file.with_name("record.db")), "--settle", "0s", "--json", "--yes"])
    said = json.loads(answer.getvalue())
    return {"moved": str((said["done"] or {}).get("moved", 0)), "status": str(said["status"])}


if __name__ == "__main__":
    print(json.dumps(planned_and_applied(json.loads(sys.argv[1]))))
