"""The options of `admit`."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bayplan.cli.console.decision import method_option


def _one_shots(incomplete: str) -> list[str]:
    from bayplan.decide.admit.one_shot import ONE_SHOTS

    return [name for name in ONE_SHOTS if name.startswith(incomplete)]


StreamFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Zones and requests: a document (JSON or YAML), JSON lines, or a table (CSV); .gz too; '-' is stdin.",
        show_default=False,
    ),
]
Method: TypeAlias = Annotated[str, method_option("admit")]
OneShot: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--one-shot",
        metavar="NAME",
        help="How the members of one request are placed; see above; 'local' if not given.",
        autocompletion=_one_shots,
        show_default=False,
    ),
]
ValueRatio: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--value-ratio",
        metavar="U",
        help="The most that a request is worth for each unit that it takes; estimated from the stream so far if not given.",
        show_default=False,
    ),
]
Alpha: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        metavar="A",
        help="How far the one-shot method may be from the least cost, 1 or more; estimated from the stream so far if not given.",
        show_default=False,
    ),
]
Slot: TypeAlias = Annotated[
    float, typer.Option("--slot", metavar="LENGTH", help="A time slot, in the file's unit of time; prices are per slot.")
]
Slots: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--slots",
        metavar="T",
        help="swmoa: how many slots there are; those of the stream so far if not given.",
        show_default=False,
    ),
]
Epsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--epsilon", metavar="E", help="--one-shot sampling: smaller is closer to the optimum and slower.", show_default=False
    ),
]
Samples: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--samples",
        metavar="N",
        help="--one-shot sampling: members whose zones are tried out exhaustively, instead of those that follow from --epsilon.",
        show_default=False,
    ),
]
Literal: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--literal",
        help="Algorithm 4 to the letter: place by price alone, whether it fits or not, then refuse what does not fit.",
    ),
]
Bound: TypeAlias = Annotated[
    bool,
    typer.Option("--bound", help="Also prove how much value the best possible answer can have, and say the ratio to it."),
]
ZonesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--zones", metavar="FILE", help="The zones of a stream that has none of its own.", show_default=False),
]
KeepGoing: TypeAlias = Annotated[
    bool, typer.Option("--keep-going", help="Leave requests with faults out, and say how many, instead of refusing the file.")
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write what is accepted: request, member, zone.", show_default=False),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write an HTML page: prices, utilisation, refusals.", show_default=False),
]
