"""`bayplan convert`"""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli.console import screen
from bayplan.cli.console.fleet import collected_clusters
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.shared import Json, Quiet, Seed, Start
from bayplan.errors import UsageError, expect_one_of

if TYPE_CHECKING:
    from bayplan.formats import Document
    from bayplan.formats.files import Whole
    from bayplan.model import ClusterRequests, Snapshot


class Target(StrEnum):
    """What `convert` can write."""

    NATIVE = "native"
    PLACEMENT = "placement"
    PARQUET = "parquet"
    RASA = "rasa"
    RASA_SOLUTION = "rasa-solution"
    GMRP_SOLUTION = "gmrp-solution"
    JSON_LINES = "jsonl"
    TABLE = "csv"
    ZONES = "zones"


STREAMS = (Target.JSON_LINES, Target.TABLE)
SOLUTIONS = {Target.PLACEMENT: "native", Target.RASA_SOLUTION: "rasa", Target.GMRP_SOLUTION: "gmrp"}


def _traces(incomplete: str) -> list[str]:
    from bayplan.formats.traces import TRACES

    return [name for name in TRACES if name.startswith(incomplete)]


Source = Annotated[Path, typer.Argument(metavar="FILE", help="Any file `show` reads, or a trace's folder.", show_default=False)]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Where to write; .gz compresses, .zip is Parquet; '-' is stdout.", show_default=False
    ),
]
To = Annotated[Target, typer.Option("--to", help="The format to write.")]
Trace = Annotated[
    str | None,
    typer.Option("--trace", metavar="NAME", help="Read FILE as this trace's folder.", autocompletion=_traces, show_default=False),
]
Zones = Annotated[
    Path | None,
    typer.Option("--zones", metavar="FILE", help="The zones of a stream that has none of its own.", show_default=False),
]


def convert(
    file: Source,
    out: Out,
    to: To = Target.NATIVE,
    trace: Trace = None,
    start: Start = None,
    zones: Zones = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read any known format and write another.

    Streams of cluster requests are written as native documents, as JSON lines (jsonl) or as a table without zones (csv).
    A very large cluster is read and written fastest as Parquet tables in a zip file (parquet, or --out FILE.zip).

    A fleet of clusters becomes zones for admit: what is free in each cluster, and the links between them.

    Example: [cyan]bayplan convert rasa.json --out cluster.yaml[/cyan]

    Example: [cyan]bayplan convert cluster.yaml --out cluster.zip[/cyan]

    Example: [cyan]bayplan convert clusters.yaml --to zones --out zones.json[/cyan]

    Example: [cyan]bayplan convert admission.json --to jsonl --out stream.jsonl[/cyan]
    """
    with working(f"converting {file}", quiet=quiet):
        from bayplan.api.files import started_from
        from bayplan.formats import expect_writable
        from bayplan.formats.files import write
        from bayplan.formats.requests import RequestsFile
        from bayplan.model import ClusterRequests, Snapshot

        expect_writable(out)
        value = _zones_of(file) if to is Target.ZONES else _read(file, trace, zones, seed)
        if isinstance(value, Snapshot):
            note(value.notes, quiet=quiet)
            _write_snapshot(out, started_from(value, start), to)
        elif to in (Target.NATIVE, Target.ZONES):
            note(value.notes if isinstance(value, RequestsFile) else (), quiet=quiet)
            write(value, out)
        elif isinstance(value, ClusterRequests) and to in STREAMS:
            _write_stream(out, value, to)
        else:
            raise UsageError(f"'{file}' holds requests, which have no {to} form; expected --to native")
    if json and str(out) != "-":
        screen.print_object({"converted": str(file), "to": to.value, "file": str(out)})
    elif str(out) != "-":
        print(f"{file} written to {out} ({to})")


def _read(file: Path, trace: str | None, zones: Path | None, seed: int) -> "Whole":
    from bayplan.formats.files import read_whole

    return read_whole(file, zones=zones) if trace is None else _read_trace(trace, file, seed)


def _zones_of(file: Path) -> "ClusterRequests":
    """The clusters of a fleet as zones; UsageError if it is another file."""
    from bayplan.api.fleet.free_capacity import fleet_zones
    from bayplan.formats.clusters import is_clusters_file

    if not is_clusters_file(file):
        raise UsageError(f"--to zones: '{file}' is no fleet of clusters; expected a file with kind: clusters")
    with collected_clusters(file) as fleet:
        return fleet_zones(fleet)


def _read_trace(name: str, folder: Path, seed: int) -> "Document":
    from bayplan.formats.traces import TRACES

    expect_one_of(name, TRACES, "trace")
    read = TRACES[name].read
    if read is None:
        raise UsageError(f"trace '{name}' has no native form: {TRACES[name].about} from Python")
    return read(folder, seed)


def _write_snapshot(out: Path, snapshot: "Snapshot", to: Target) -> None:
    from bayplan.formats import write

    if to in (Target.NATIVE, Target.PARQUET, Target.RASA):
        write(snapshot, out, form=to.value)
    elif to in STREAMS:
        raise UsageError(f"a cluster has no {to} form; expected a stream of cluster requests")
    else:
        write(snapshot.placement, out, of=replace(snapshot, format=SOLUTIONS[to]))


def _write_stream(out: Path, requests: "ClusterRequests", to: Target) -> None:
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.formats.streams import json_lines, table_text

    write_text_atomically(out, json_lines(requests) if to is Target.JSON_LINES else table_text(requests))
