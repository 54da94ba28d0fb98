"""The incumbent of a job on the disk: written in milliseconds by the job, made a whole document when it is asked for.

The names of containers and machines, and where everything ran before, are written once; an incumbent after that is one number
for each container. So a search in a large cluster can write down every incumbent that it tells of.
"""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.formats.document.text import write_text_atomically
from bayplan.model import UNPLACED, IntArray, ints

if TYPE_CHECKING:
    from bayplan.api.placement import PlacementAnswer
    from bayplan.model import Cluster, Placement

INCUMBENT, NAMES = "incumbent.json", "incumbent-names.json"


def write_names(cluster: "Cluster", before: "Placement") -> None:
    """Write down, in the present folder, what all incumbents of a job have in common."""
    containers, machines = list(cluster.containers.name), list(cluster.machines.name)
    names = {"containers": containers, "machines": machines, "before": _packed(before.machine_of)}
    write_text_atomically(NAMES, json.dumps(names))


def write_incumbent(event: Mapping[str, Any], answer: "PlacementAnswer", result: Mapping[str, Any]) -> None:
    """Write an incumbent down in the present folder; `result`: the answer as an object, without its moves."""
    written = {**event, "result": result, "machine_of": _packed(answer.placement.machine_of)}
    write_text_atomically(INCUMBENT, json.dumps(written))


def read_incumbent(folder: Path) -> dict[str, Any] | None:
    """The incumbent that a job has written down: what its event says, its `result`, its `placement`; None if there is none."""
    if not (folder / INCUMBENT).exists():
        return None
    incumbent = json.loads((folder / INCUMBENT).read_text(encoding="utf-8"))
    names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    container, machine = names["containers"], [*names["machines"], ""]  # the last one stands for no machine
    before, after = _unpacked(names["before"]), _unpacked(incumbent.pop("machine_of"))
    moved = np.flatnonzero((before != UNPLACED) & (before != after)).tolist()
    moves = [{"container": container[c], "from": machine[before[c]], "to": machine[after[c]]} for c in moved]
    pairs = zip(container, after.tolist(), strict=True)
    return {
        **incumbent,
        "result": {**incumbent["result"], "moves": moves},
        "placement": {name: machine[m] for name, m in pairs if m != UNPLACED},
    }


def _packed(machine_of: IntArray) -> str:
    return base64.b64encode(machine_of.astype("<i4").tobytes()).decode("ascii")


def _unpacked(text: str) -> IntArray:
    return ints(np.frombuffer(base64.b64decode(text), dtype="<i4"))
