"""`bayplan reproduce`"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli.console import screen
from bayplan.cli.options.shared import Json
from bayplan.errors import UsageError, WorldError, expect_one_of
from bayplan.words import count

if TYPE_CHECKING:
    from bayplan.report.verdict_table import JudgedClaim

PAPERS = ("freecontainer", "gmrp", "rasa", "ucac", "online-clusters", "cradle")  # folders of experiments/, - for _
ROOT = Path(__file__).parents[3]  # of a clone that is installed with `pip install --editable`

Paper = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help=f"One of {', '.join(PAPERS)}.",
        autocompletion=lambda incomplete: [name for name in PAPERS if name.startswith(incomplete)],
        show_default=False,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Tiny instances, one seed, seconds instead of hours.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="For CSV files, tables and figures; reproduced-PAPER by default.",
        show_default=False,
    ),
]


Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where cells are measured: 'here' (this process, one by one), 'pool' (processes of this machine, as many as "
        "--threads), 'ray' or 'ray:ADDRESS'.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Cells at a time with --engine pool; as many as there are cores by default.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="HH:MM", help="Begin no cell after this time; the next run goes on.", show_default=False),
]


def reproduce(
    paper: Paper,
    quick: Quick = False,
    engine: Engine = "here",
    threads: Threads = None,
    until: Until = None,
    out: Folder = None,
    json: Json = False,
) -> None:
    """Measure a paper's experiments anew: raw results as CSV, tables and figures, and a verdict on each claim, printed.

    Needs a clone of the repository: experiments are not part of the installed package. A run that was stopped goes on where
    it stopped if it is given the same folder. Without --quick it takes hours. Ctrl-C keeps all rows that came.

    With --engine several cells are measured at a time, and the CSV files have the same rows in the same order. Seconds of cells
    that were measured beside others are not comparable: cells share caches, memory and cores. Where a method is allowed seconds
    of the CPU (freecontainer, cradle), its answer is comparable all the same: other cells take nothing from it. Where it is
    allowed seconds of the wall (gmrp, rasa, ucac), give each cell a core of its own. Workers on Ray need the clone, too: at the
    same path as here, or on the PYTHONPATH with which Ray was started.

    - freecontainer: placing and rebalancing at the scale of two data centres, ten seeds

    - ucac: packing at a stated confidence, five seeds, and a week

    - rasa: gained affinity under a minute, over moves and over time; M3 is read from rasa/ in the folder BAYPLAN_DATA

    - online-clusters: placing one cluster of containers, and admitting streams of them, twenty seeds; Azure's from BAYPLAN_DATA

    - cradle: which timed requests are served at loads from 1 to 12, five seeds; three traces from traces/ in BAYPLAN_DATA

    - gmrp: the Google Machine Reassignment Problem; its models are read from gmrp/ in the folder BAYPLAN_DATA

    Example: [cyan]bayplan reproduce freecontainer --quick --out first-look[/cyan]

    Example: [cyan]bayplan reproduce cradle --engine pool --threads 8 --out cradle[/cyan]
    """
    expect_one_of(paper, PAPERS, "paper")
    package = paper.replace("-", "_")
    if not (ROOT / "experiments" / package / "run.py").is_file():
        raise UsageError(
            f"no experiments in {ROOT}: they are not part of the installed package; "
            "clone the repository, install it with 'pip install --editable .' and run this again"
        )
    _expect_time(until)
    _expect_engine(engine)
    folder = out or Path(f"reproduced-{paper}")
    words = ["--engine", engine, "--out", str(folder), *(["--quick"] if quick else [])]
    words += [] if threads is None else ["--workers", str(threads)]
    words += [] if until is None else ["--until", until]
    with _clone_on_path():
        experiment, papers = (import_module(name) for name in (f"experiments.{package}.run", "experiments.evidence.papers"))
        _measure(experiment, words)
    reproduction = papers.REPRODUCTIONS[paper]
    claims = reproduction.claims(folder, quick=quick)
    _print(paper, claims, folder / reproduction.page, quick=quick, json=json)


def _expect_engine(name: str) -> None:
    """A name that is none is said before anything is read."""
    from bayplan.api.control import engine

    engine(name)


def _expect_time(text: str | None) -> None:
    if text is not None:
        try:
            datetime.strptime(text, "%H:%M")
        except ValueError:
            raise UsageError(f"--until {text}: expected a time such as 06:45") from None


def _measure(experiment: ModuleType, words: Sequence[str]) -> None:
    """Run an experiment; one that cannot go on ends with a sentence."""
    try:
        experiment.main(words)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            raise WorldError(stop.code) from None
        raise


@contextmanager
def _clone_on_path() -> Iterator[None]:
    """Within, modules of the clone can be imported, by workers of an engine, too: they are told our path."""
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        sys.path.remove(str(ROOT))


def _print(paper: str, claims: "Sequence[JudgedClaim]", page: Path, *, quick: bool, json: bool) -> None:
    """The verdicts, where the tables and figures are, and what a first look is worth."""
    from bayplan.report.json import records
    from bayplan.report.table import Sentence, facts, report
    from bayplan.report.verdict_table import verdict_table

    verdicts = verdict_table(claims, title=f"{paper}: {count(len(claims), 'claim')}")
    if json:
        files = sorted(str(path) for path in page.parent.rglob("*") if path.is_file())
        screen.print_object({"paper": paper, "quick": quick, "verdicts": records(verdicts), "page": str(page), "files": files})
        return
    tiny = "Tiny instances: these verdicts say that everything runs, not what holds; docs/evidence.md has those that count."
    where = facts(("tables and figures", str(page)), ("raw results", f"*.csv in {page.parent}"))
    screen.print_report(report(verdicts, where, Sentence(tiny if quick else "", "soft")))
