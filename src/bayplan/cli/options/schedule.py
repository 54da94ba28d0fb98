"""The options of `schedule`."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bayplan.cli.console.decision import method_option

Requests: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Timed requests: JSON, YAML or CSV with the columns start, end and one for each resource; .gz too; '-' is stdin.",
        show_default=False,
    ),
]
Machines: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--machines", "-k", metavar="K", min=0, help="How many machines there are, all as large as FILE says.", show_default=False
    ),
]
FleetFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--fleet",
        metavar="FILE",
        help="Machines of several sizes: how many there are of each kind, and what one has.",
        show_default=False,
    ),
]
Capacity: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--capacity", metavar="NAME=AMOUNT", help="What one machine has of a resource, instead of what FILE says; repeatable."
    ),
]
Method: TypeAlias = Annotated[str, method_option("schedule")]
Weights: TypeAlias = Annotated[
    str,
    typer.Option(
        "--weights",
        metavar="NAME",
        help="What a request is worth: 'given' (as in FILE), 'one' (each the same), 'area' (share of a machine x duration).",
    ),
]
Profit: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--profit", metavar="CLASS=VALUE", help="Requests of this priority class count this many times as much; repeatable."
    ),
]
Horizon: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--horizon",
        metavar="T",
        help="Where time ends: ends that are later or not known become T, and requests that start then are left out.",
        show_default=False,
    ),
]
Forecast: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--forecast",
        metavar="FILE",
        help="online: requests like those to come, such as last week's, to learn prices from.",
        show_default=False,
    ),
]
NoBound: TypeAlias = Annotated[
    bool,
    typer.Option("--no-bound", help="No proven bound: quicker, but the distance from the best is not known."),
]
SweepOver: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        metavar="FEW:MANY[:STEP]",
        help="Answer for several numbers of machines: served share, value, and what one machine more is worth.",
        show_default=False,
    ),
]
Serve: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--serve",
        metavar="SHARE",
        help="Find the fewest machines that serve this share of the requests, such as 0.95.",
        show_default=False,
    ),
]
Resume: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Go on with an earlier --sweep or --serve from what it wrote with --out.",
        show_default=False,
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write which request is served on which machine; for a sweep its points, as it goes.",
        show_default=False,
    ),
]
Report: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write an HTML page with pictures.", show_default=False)
]
