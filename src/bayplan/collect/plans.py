"""Files of migration plans: batches of create and delete steps."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from bayplan.collect.schemas import schema
from bayplan.collect.shape import shape_faults
from bayplan.collect.text import write_text_atomically
from bayplan.errors import Fault, InputError
from bayplan.model import Action, Cluster, Plan, Step


def read_plan(document: object, cluster: Cluster, source: str) -> Plan:
    """The plan of a document; InputError if a step names what the cluster does not have. Other keys are left alone."""
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    faults = shape_faults(document, schema("plan"))
    if not faults:
        faults = list(_faults(cast(dict[str, Any], document)["batches"], container, machine))
    if faults:
        raise InputError(source, faults)
    return Plan(
        batches=tuple(
            tuple(Step(Action(step["action"]), container[step["container"]], machine[step["machine"]]) for step in batch)
            for batch in cast(dict[str, Any], document)["batches"]
        )
    )


def write_plan(path: str | os.PathLike[str], plan: Plan, cluster: Cluster, more: Mapping[str, Any] | None = None) -> None:
    """Write a file that `read_plan` reads back as the same plan."""
    write_text_atomically(path, plan_text(plan, cluster, more))


def plan_text(plan: Plan, cluster: Cluster, more: Mapping[str, Any] | None = None) -> str:
    """The plan as JSON, one line per step; `more` keys stand behind the batches."""
    names, machines = cluster.containers.name, cluster.machines.name
    batches = [
        ",\n".join(
            f"   {json.dumps({'action': step.action, 'container': names[step.container], 'machine': machines[step.machine]})}"
            for step in batch
        )
        for batch in plan.batches
    ]
    text = '{\n "batches": [\n' + ",\n".join(f"  [\n{batch}\n  ]" for batch in batches) + "\n ]"
    return text + "".join(f",\n {json.dumps(key)}: {json.dumps(value)}" for key, value in (more or {}).items()) + "\n}\n"


def _faults(batches: list[list[dict[str, str]]], container: Mapping[str, int], machine: Mapping[str, int]) -> Iterator[Fault]:
    for b, batch in enumerate(batches, start=1):
        for i, step in enumerate(batch, start=1):
            for word, known in (("container", container), ("machine", machine)):
                if step[word] not in known:
                    problem, expected = f"names a {word} that does not exist", f"one of the {len(known)} {word}s"
                    where = f"{i} of batch {b}"
                    yield Fault(code="E1515", kind="step", name=where, problem=problem, value=step[word], expected=expected)
        for (action, name, place), count in Counter((s["action"], s["container"], s["machine"]) for s in batch).items():
            if count > 1:
                problem, value = "has the same step more than once", f"{action} {name} on {place}, {count} times"
                yield Fault(code="E1516", kind="batch", name=str(b), problem=problem, value=value, expected="each step once")
