"""The smallest input that still shows the fault of a case: parts of its file are left out as long as that fault stays."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.stress.cases import Case
from tests.stress.judged import judged
from tests.stress.outcomes import write_input

import bayplan as bp
from bayplan.errors import BayplanError
from bayplan.formats.files import read_timed
from bayplan.formats.native import build
from bayplan.model import ClusterRequests, Snapshot

MOST_TRIES = 400


def minimised(case: Case) -> tuple[Case, dict[str, Any]]:
    """The case with the smallest document found, and that document."""
    kind = judged(case).kind
    with TemporaryDirectory() as folder:
        path = Path(folder) / "input.json"
        write_input(case, path)
        document, tries = json.loads(path.read_text()), 0
        smaller = True
        while smaller and tries < MOST_TRIES:
            smaller = False
            for candidate, options in _smaller(document, dict(case.options)):
                tries += 1
                shrunk = _read(case, candidate, options, path)
                if shrunk is not None and judged(shrunk).kind == kind:
                    case, document, smaller = shrunk, candidate, True
                    break
                if tries >= MOST_TRIES:
                    break
    return case, document


def _read(case: Case, document: dict[str, Any], options: dict[str, Any], path: Path) -> Case | None:
    """The case with another input; None if that is no valid input."""
    path.write_text(json.dumps(document))
    try:
        if isinstance(case.value, Snapshot):
            value: Any = build(document, "drawn")  # a file may not have rules that contradict each other, a cluster may
        elif isinstance(case.value, ClusterRequests):
            value = bp.read_stream(path).admission
        else:
            value = read_timed(path)
    except BayplanError:
        return None
    return replace(case, value=value, options=options)


def _smaller(document: dict[str, Any], options: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Documents and options with a part less."""
    for name in options:
        if name not in ("alive", "relabel", "delete_missing"):
            yield document, {key: value for key, value in options.items() if key != name}
    for section in (
        "rules",
        "workloads",
        "machines",
        "traffic",
        "requests",
        "zones",
        "links",
        "objective",
        "sets",
        "machine_sets",
    ):
        part = document.get(section)
        if isinstance(part, list):
            yield from ((_without(document, (section, i)), options) for i in range(len(part)))
        elif isinstance(part, dict) and section == "requests":
            yield from ((_without_column(document, i), options) for i in range(len(part.get("start", ()))))
        elif part is not None:
            yield _without(document, (section,)), options
    for w, workload in enumerate(document.get("workloads", ())):
        for i in range(len(workload.get("on", ()))):
            yield _without_replica(document, w, i), options
        yield from (
            (_without(document, ("workloads", w, key)), options) for key in ("usage", "limit", "service") if key in workload
        )
    for m, machine in enumerate(document.get("machines", ())):
        keys = [key for key in machine if key not in ("name", "capacity")] if isinstance(machine, dict) else []
        yield from ((_without(document, ("machines", m, key)), options) for key in keys)


def _without(document: dict[str, Any], place: tuple[str | int, ...]) -> dict[str, Any]:
    smaller = deepcopy(document)
    part: Any = smaller
    for key in place[:-1]:
        part = part[key]
    del part[place[-1]]
    return smaller


def _without_column(document: dict[str, Any], i: int) -> dict[str, Any]:
    smaller = deepcopy(document)
    columns = smaller["requests"]
    for name, column in columns.items():
        for values in column.values() if name == "demand" else [column]:
            del values[i]
    return smaller


def _without_replica(document: dict[str, Any], w: int, i: int) -> dict[str, Any]:
    smaller = deepcopy(document)
    workload = smaller["workloads"][w]
    del workload["on"][i]
    if isinstance(workload.get("containers"), int):
        workload["containers"] -= 1
    elif isinstance(workload.get("containers"), list):
        del workload["containers"][i]
    return smaller
