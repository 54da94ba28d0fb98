"""Snapshots, requests and streams: read from files, written to files, generated."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError, did_you_mean, expect_one_of
from bayplan.model import Placement, Snapshot

if TYPE_CHECKING:
    from bayplan.api.answer import PathLike
    from bayplan.formats.requests import RequestsFile
    from bayplan.formats.streams import Stream
    from bayplan.model import Acceptance, ClusterRequests, Progress, Schedule, TimedRequests

STDIO = "-"


def read(path: PathLike, start: PathLike | None = None) -> Snapshot:
    """The snapshot in a file: native (JSON or YAML), RASA or GMRP, plain or gzipped; "-" is stdin.

    `start` is a file with a placement to use instead of the one in the input. All faults of a file are raised at once, as one
    `InputError`.

    >>> import bayplan as bp
    >>> shop = bp.read("shop.yaml")
    >>> len(shop.cluster.machines.name), len(shop.cluster.containers.name)
    (4, 6)
    """
    from bayplan.formats import read as read_file

    return started_from(named(read_file(path) if start is None else read_file(path, start), path), start)


def read_requests(path: PathLike) -> RequestsFile:
    """The timed requests in a file (JSON, YAML or CSV), with the machines that it states, for `schedule`.

    >>> import bayplan as bp
    >>> len(bp.read_requests("requests.json").requests.name)
    3
    """
    from bayplan.formats.files import read_timed

    return read_timed(Path(path))


def read_stream(path: PathLike, zones: PathLike | None = None, *, keep_going: bool = False) -> Stream:
    """The zones and arriving cluster requests in a file (JSON, JSON lines or CSV), for `admit`.

    `zones`: the file of the zones, if the stream has none of its own. With `keep_going` requests with faults are left out.

    >>> import bayplan as bp
    >>> len(bp.read_stream("stream.jsonl").admission.requests)
    2
    """
    from bayplan.formats.streams import read_stream as read_stream_file

    return read_stream_file(path, zones=zones, keep_going=keep_going)


def write(value: Snapshot | TimedRequests | ClusterRequests, path: PathLike) -> None:
    """Write a snapshot, timed requests or a stream in its native format; `.yaml` and `.gz` are understood, "-" is stdout.

    >>> import bayplan as bp
    >>> bp.write(bp.generate("boutique"), "boutique.yaml")
    >>> bp.read("boutique.yaml").cluster.name
    'boutique'
    """
    from bayplan.formats import write as write_file

    write_file(value, path)


def generate(name: str, *, seed: int = 0, progress: Progress | None = None, **settings: Any) -> Any:
    """A seeded instance at a paper's scale: a snapshot, timed requests or a stream, as the generator makes.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique", seed=1)
    >>> day = bp.generate("requests", n=100, machines=4)
    >>> len(day.name)
    100
    """
    from bayplan.api.warm_up import warm_up_methods
    from bayplan.generate import GENERATORS, options
    from bayplan.model import silent

    expect_one_of(name, GENERATORS, "generator")
    known = options(GENERATORS[name])
    for setting in settings:
        if setting not in known:
            expected = f"one of {', '.join(known)}" if known else "none: it has no settings"
            raise UsageError(f"generator '{name}': no setting '{setting}'; expected {expected}{did_you_mean(setting, known)}")
    warm_up_methods([("generate", name)], progress or silent)
    return GENERATORS[name].make(seed=seed, progress=progress or silent, **settings)


def read_any(path: PathLike) -> Snapshot | RequestsFile | TimedRequests | ClusterRequests:
    """Whatever is in a file: a snapshot, timed requests with their machines, or a stream."""
    from bayplan.formats.files import read_whole

    return read_whole(path)


def read_accepted(path: PathLike, stream: Stream) -> Acceptance:
    """The answer of `admit` in a file."""
    from bayplan.formats import read_accepted as read_file

    return read_file(path, stream.admission)


def read_served(path: PathLike, requests: TimedRequests) -> Schedule:
    """The answer of `schedule` in a file."""
    from bayplan.formats import read_served as read_file

    return read_file(path, requests)


def make_folder(path: PathLike) -> None:
    """Make a folder, if it is not there; WorldError if that cannot be."""
    from bayplan.formats.document.text import make_folder as make

    make(path)


def named(snapshot: Snapshot, path: PathLike) -> Snapshot:
    """The snapshot, called after its file if it has no name."""
    if snapshot.cluster.name:
        return snapshot
    file = Path(os.fspath(path)).name
    name = file.split(".")[0] if file != STDIO else "cluster"
    return replace(snapshot, cluster=replace(snapshot.cluster, name=name))


def started_from(snapshot: Snapshot, start: PathLike | Placement | None) -> Snapshot:
    """The snapshot with another placement, or as it is."""
    from bayplan.formats import read_placement

    if start is None:
        return snapshot
    placement = start if isinstance(start, Placement) else read_placement(start, snapshot.cluster)
    return replace(snapshot, placement=placement)
