"""Feature graphs of labelled subproblems, kept as measured: training them again needs no generator and no partition."""

import fcntl
import json
import zipfile
from pathlib import Path

import numpy as np

from bayplan.decide.collocate.select.features import FeatureGraph
from bayplan.model import floats, ints

DIGITS = 5


def keep(path: Path, name: str, graph: FeatureGraph) -> None:
    """Add a graph to a zip file of JSON files, if it is not there. Several processes may add to one file at the same time."""
    with path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
            if f"{name}.json" not in file.namelist():
                file.writestr(zipfile.ZipInfo(f"{name}.json"), _text(graph), zipfile.ZIP_DEFLATED)


def _text(graph: FeatureGraph) -> str:
    content = {
        "feature": [[_short(value) for value in row] for row in graph.feature.tolist()],
        "a": graph.a.tolist(),
        "b": graph.b.tolist(),
        "weight": [_short(value) for value in (graph.weight / graph.weight.max()).tolist()],
        "machines": graph.machines,
        "types": graph.types,
    }
    return json.dumps(content, separators=(",", ":"))


def kept(path: Path) -> dict[str, FeatureGraph]:
    """All graphs of a file by name."""
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".json"): _graph(file.read(name)) for name in file.namelist()}


def _graph(text: bytes) -> FeatureGraph:
    told = json.loads(text)
    return FeatureGraph(
        feature=floats(np.asarray(told["feature"])),
        a=ints(told["a"]),
        b=ints(told["b"]),
        weight=floats(told["weight"]),
        machines=told["machines"],
        types=told["types"],
    )


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
