"""Files of migration plans: batches of create and delete steps."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bayplan.errors import Fault, InputError
from bayplan.formats.document.naming import one_of_known
from bayplan.formats.document.salvage import Salvage, well_shaped
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.subject import Path
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import Action, Cluster, Plan, Step

NEW = "new"  # the key of containers that the cluster does not have yet, and their workloads


def read_plan(document: object, cluster: Cluster, source: str) -> Plan:
    """The plan of a document; InputError if a step names what the cluster does not have. Other keys are left alone."""
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    faults, part = well_shaped(document, schema("plan"), _step)
    if part is not None:
        faults += _faults(part, container, machine)
    if faults or part is None:
        raise InputError(source, faults)
    return Plan(
        batches=tuple(
            tuple(Step(Action(step["action"]), container[step["container"]], machine[step["machine"]]) for step in batch)
            for batch in part.document["batches"]
        )
    )


def _step(path: Path) -> Path:
    """What is left out for a fault: batches, batch, step."""
    return path[:3]


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


def _faults(part: Salvage, container: Mapping[str, int], machine: Mapping[str, int]) -> Iterator[Fault]:
    for b, batch in enumerate(part.document["batches"]):
        for i, step in enumerate(batch):
            for word, known in (("container", container), ("machine", machine)):
                if step[word] not in known:
                    problem, expected = f"names a {word} that does not exist", one_of_known(word, known)
                    where = f"{_number(part, b, i)} of batch {_number(part, b)}"
                    yield Fault(code="E1515", kind="step", name=where, problem=problem, value=step[word], expected=expected)
        for (action, name, place), count in Counter((s["action"], s["container"], s["machine"]) for s in batch).items():
            if count > 1:
                problem, value = "has the same step more than once", f"{action} {name} on {place}, {count} times"
                where = _number(part, b)
                yield Fault(code="E1516", kind="batch", name=where, problem=problem, value=value, expected="each step once")


def _number(part: Salvage, *place: int) -> str:
    """Of a batch, or of a step in a batch: its place in the whole list, from 1."""
    return str(int(part.original(("batches", *place))[-1]) + 1)
