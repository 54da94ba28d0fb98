"""The data of a page as one line of text: a JSON header and typed arrays, compressed, in base64.

Base64 has no character that means anything in HTML, so names from files cannot leave the script element. The same input gives
the same text: the compressed form (zlib) has no time stamp.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.model import Action, Cluster
from bayplan.report.change_page.data import ChangePageData, MoveNote, all_moves, batch_of
from bayplan.report.names import printable, told_apart
from bayplan.report.pictures.placement.bay_plan_data import group_index, in_order

ALIGNED = 8  # bytes: where an array may begin
SHORT, MOST_NAMED = 16, 240  # characters of names below stacks; machines that may have one
SCALE = 1e-6  # gains are whole millionths


def encoded(data: ChangePageData) -> str:
    """Everything that the script of the page reads, as one line."""
    cluster, moves = data.snapshot.cluster, all_moves(data)
    alike = cluster.services.name == cluster.workloads.name
    header: dict[str, Any] = {
        "machines": printable_names(cluster.machines.name),
        "short": told_apart(cluster.machines.name, SHORT) if len(cluster.machines.name) <= MOST_NAMED else [],
        "workloads": printable_names(cluster.workloads.name),
        "services": [] if alike else printable_names(cluster.services.name),  # none: called as the workloads
        "resources": [
            {"name": printable(resource.name), "scale": resource.scale, "unit": printable(resource.unit)}
            for resource in cluster.resources
        ],
        "names": odd_names(cluster),
        "groups": printable_names(group_index(cluster, data.group_by)[1]),
        **_move_words(moves),
    }
    arrays = {
        "capacity": cluster.machines.capacity.ravel(),
        "safety": cluster.machines.safety.ravel(),
        "order": in_order(cluster, data.group_by),
        "group": group_index(cluster, data.group_by)[0],
        "service": cluster.workloads.service,
        "request": cluster.workloads.request.ravel(),
        "replicas": cluster.replicas,
        "before": data.snapshot.placement.machine_of,
        **_twice(data),
        **_move_arrays(moves),
        "batch": batch_of(moves, data.plan),
        **_step_arrays(data),
    }
    return packed(header, arrays)


def packed(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """A header and arrays in base64: four bytes with the header's length, the header, then each array at a multiple of 8."""
    narrowed = {name: narrow(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str[1:], len(array)] for name, array in narrowed.items()]
    written = json.dumps({**header, "arrays": listed}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    parts = [_padded(len(written).to_bytes(4, "little") + written), *(_padded(array.tobytes()) for array in narrowed.values())]
    return base64.b64encode(zlib.compress(b"".join(parts), 9)).decode("ascii")


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in as few bytes as hold them exactly, low byte first; whole numbers beyond 32 bits become floats."""
    if array.dtype.kind == "f":
        return np.asarray(array, dtype="<f8")
    least, most = int(array.min(initial=0)), int(array.max(initial=0))
    for kind in ("<i1", "<i2", "<i4"):
        limits = np.iinfo(kind)
        if limits.min <= least and most <= limits.max:
            return array.astype(kind)
    return array.astype("<f8")


def _padded(block: bytes) -> bytes:
    return block + b"\0" * (-len(block) % ALIGNED)


def printable_names(names: tuple[str, ...]) -> list[str]:
    """Names without characters that change how others are shown."""
    return [printable(name) for name in names]


def odd_names(cluster: Cluster) -> dict[int, list[str]]:
    """Names of containers by workload, of those workloads whose containers are not called web-0, web-1, ..."""
    end = np.cumsum(cluster.replicas).tolist()
    odd = {}
    for w, (workload, last, replicas) in enumerate(zip(cluster.workloads.name, end, cluster.replicas.tolist(), strict=True)):
        names = cluster.containers.name[last - replicas : last]
        if any(name != f"{workload}-{k}" for k, name in enumerate(names)):
            odd[w] = printable_names(names)
    return odd


def _gain_labels(moves: tuple[MoveNote, ...]) -> list[str]:
    return list(dict.fromkeys(label for move in moves for label in move.gain))


def _move_words(moves: tuple[MoveNote, ...]) -> dict[str, Any]:
    return {
        "gains": [printable(label) for label in _gain_labels(moves)],
        "noted": any(move.gain for move in moves),
        "reasons": list(dict.fromkeys(printable(move.reason) for move in moves)),
        "why": [printable(move.why) for move in moves],
    }


def _move_arrays(moves: tuple[MoveNote, ...]) -> dict[str, npt.NDArray[Any]]:
    gains = _gain_labels(moves)
    reason = {words: k for k, words in enumerate(dict.fromkeys(printable(move.reason) for move in moves))}
    gain = np.array([[move.gain.get(label, 0.0) for label in gains] for move in moves], dtype=np.float64)
    return {
        "container": np.array([move.container for move in moves], dtype=np.int64),
        "source": np.array([move.source for move in moves], dtype=np.int64),
        "target": np.array([move.target for move in moves], dtype=np.int64),
        "gain": _millionths(gain.ravel()),
        "net": _millionths(np.array([move.net for move in moves], dtype=np.float64)),
        "reason": np.array([reason[printable(move.reason)] for move in moves], dtype=np.int64),
    }


def _millionths(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.asarray(np.rint(np.nan_to_num(numbers) / SCALE), dtype=np.int64)


def _twice(data: ChangePageData) -> dict[str, npt.NDArray[Any]]:
    """Containers that run on a second machine at the start, and these machines."""
    doubled = np.zeros(0, dtype=np.int64) if data.running is None else data.running.doubled
    return {"twice": doubled, "twice_machine": doubled if data.running is None else data.running.second[doubled]}


def _step_arrays(data: ChangePageData) -> dict[str, npt.NDArray[Any]]:
    batches = data.plan.batches if data.plan is not None else ()
    steps = [step for batch in batches for step in batch]
    times = data.timetable
    timed = times is not None and len(times.batch_end) == len(batches)
    return {
        "step_creates": np.array([step.action is Action.CREATE for step in steps], dtype=np.int64),
        "step_container": np.array([step.container for step in steps], dtype=np.int64),
        "step_machine": np.array([step.machine for step in steps], dtype=np.int64),
        "batch_steps": np.array([len(batch) for batch in batches], dtype=np.int64),
        "batch_start": times.batch_start if times is not None and timed else np.arange(len(batches), dtype=np.float64),
        "batch_end": times.batch_end if times is not None and timed else np.arange(1, len(batches) + 1, dtype=np.float64),
        "timed": np.array([timed], dtype=np.int64),
    }
