"""The options that several commands share, worded once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bayplan.errors import UsageError

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
SearchSeed: TypeAlias = Annotated[
    int,
    typer.Option("--seed", min=0, help="Of random choices; a search that ends by the clock may answer differently each time."),
]
GroupBy: TypeAlias = Annotated[
    str | None,
    typer.Option("--group-by", metavar="LEVEL", help="Group machines in the report by this level (rack, zone, ...)."),
]
Report: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write a self-contained HTML report.", show_default=False)
]

ObjectiveName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="What is good: 'file' (the input's own, else 'steady'), 'steady' (hot machines first, then local traffic and "
        "balance, with few moves), 'freecontainer' (equation 6 of the paper), 'gmrp'.",
    ),
]


def pairs(texts: Sequence[str] | None, option: str, form: str) -> dict[str, float]:
    """`NAME=VALUE` texts of a repeatable option as numbers by name; the last of several counts."""
    values: dict[str, float] = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{option} '{text}': expected {form}")
        values[name] = number(value, f"{option} '{text}'")
    return values


def number(text: str, label: str) -> float:
    """The number that a text states; UsageError that starts with `label` if it states none of 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise UsageError(f"{label}: '{text}' is not a number of 0 or more")
    return value


def file_stem(file: Path, otherwise: str) -> str:
    """What a page calls the input: the file's name without its endings; `otherwise` for stdin."""
    return file.name.split(".")[0] if file.name != "-" else otherwise


def share(text: str, label: str) -> float:
    """`0.03` or `3%` as a share of 1."""
    value = number(text.removesuffix("%"), label) / (100 if text.endswith("%") else 1)
    if value > 1:
        raise UsageError(f"{label}: expected a share of 0 to 1, or 0% to 100%")
    return value
