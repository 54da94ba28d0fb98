"""The options that several commands share, worded once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

File: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A snapshot (JSON or YAML, .gz too), a RASA cluster or a GMRP model; '-' is stdin.",
        show_default=False,
    ),
]
Start: TypeAlias = Annotated[
    Path | None,
    typer.Option("--start", metavar="FILE", help="Use this placement instead of the one in the input.", show_default=False),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write the answer to this file instead of stdout.", show_default=False),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr.")]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same answer.")]
GroupBy: TypeAlias = Annotated[
    str | None,
    typer.Option("--group-by", metavar="LEVEL", help="Group machines in the report by this level (rack, zone, ...)."),
]
Report: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write a self-contained HTML report.", show_default=False)
]
