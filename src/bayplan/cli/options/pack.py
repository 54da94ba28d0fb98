"""The options of `pack`."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bayplan.cli.console.decision import method_option

Method: TypeAlias = Annotated[str, method_option("pack")]
Seed: TypeAlias = Annotated[
    int,
    typer.Option("--seed", min=0, help="Seed of the usage that is simulated; only csp-mac draws random numbers, too."),
]
Alpha: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        metavar="ALPHA",
        help="Probability that a machine's usage stays within its capacity, above 0.5 and below 1; the input's own if not given.",
        show_default=False,
    ),
]
AlphaOf: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--confidence-of",
        metavar="NAME=ALPHA",
        help="A higher confidence wherever this service or workload runs; patterns such as 'web-*'; repeatable.",
    ),
]
ResourceName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--resource",
        metavar="NAME",
        help="Whose UCaC counts: that of the first confidence rule, or the first resource, if not given.",
        show_default=False,
    ),
]
Uncertainty: TypeAlias = Annotated[
    str,
    typer.Option(
        "--uncertainty",
        metavar="NAME",
        help="How usage varies: 'gaussian' (mean and std), 'hoeffding' (anything within 0 and the limit), 'hoeffding-mean' "
        "(the same, sharper), 'empirical' (as measured: --samples).",
    ),
]
FleetFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--fleet",
        metavar="FILE",
        help="Pack onto what is free in the clusters of this fleet, instead of the machines of FILE.",
        show_default=False,
    ),
]
SamplesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--samples",
        metavar="FILE",
        help="Usage that was measured, CSV, JSON or YAML: mean and deviation come from here.",
        show_default=False,
    ),
]
Peak: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--peak",
        metavar="NAME",
        help="Of samples with times take the busiest hour only: 'service' (each workload's own) or 'cluster' (of all together).",
        show_default=False,
    ),
]
PeakWindow: TypeAlias = Annotated[
    float, typer.Option("--peak-window", metavar="SECONDS", min=1, help="How long the peak of --peak is.")
]
Sigmas: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--n-sigma",
        metavar="N",
        help="bf-nsigma: how many deviations above its mean a container counts; those of the confidence if not given.",
        show_default=False,
    ),
]
Patterns: TypeAlias = Annotated[
    Path | None,
    typer.Option("--patterns", metavar="FILE", help="Begin from the patterns of an earlier day.", show_default=False),
]
SavePatterns: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--save-patterns", metavar="FILE", help="Write the patterns that were found, for another day.", show_default=False
    ),
]
TargetsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--targets",
        metavar="FILE",
        help="How many containers each workload must have, JSON or YAML: what is too much is deleted, what is missing packed.",
        show_default=False,
    ),
]
Needed: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--machines-needed", help="Only say how many machines of which type all containers need from empty, and a proven bound."
    ),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write an HTML page for capacity planning.", show_default=False),
]
CONFIDENCES = "NAME=ALPHA, NAME a service, a workload or a pattern"  # what --confidence-of expects
