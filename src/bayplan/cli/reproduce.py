"""`bayplan reproduce`"""

import importlib
import sys
from collections.abc import Sequence
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


def reproduce(paper: Paper, quick: Quick = False, out: Folder = None, json: Json = False) -> None:
    """Measure a paper's experiments anew: raw results as CSV, tables and figures, and a verdict on each claim, printed.

    Needs a clone of the repository: experiments are not part of the installed package. A run that was stopped goes on where
    it stopped if it is given the same folder. Without --quick it takes hours.

    - freecontainer: placing and rebalancing at the scale of two data centres, ten seeds

    - ucac: packing at a stated confidence, five seeds, and a week

    - rasa: gained affinity under a minute, over moves and over time; M3 is read from rasa/ in the folder BAYPLAN_DATA

    - online-clusters: placing one cluster of containers, and admitting streams of them, twenty seeds; Azure's from BAYPLAN_DATA

    - cradle: which timed requests are served at loads from 1 to 12, five seeds; three traces from traces/ in BAYPLAN_DATA

    - gmrp: the Google Machine Reassignment Problem; its models are read from gmrp/ in the folder BAYPLAN_DATA

    Example: [cyan]bayplan reproduce freecontainer --quick --out first-look[/cyan]
    """
    expect_one_of(paper, PAPERS, "paper")
    package = paper.replace("-", "_")
    if not (ROOT / "experiments" / package / "run.py").is_file():
        raise UsageError(
            f"no experiments in {ROOT}: they are not part of the installed package; "
            "clone the repository, install it with 'pip install --editable .' and run this again"
        )
    experiment, papers = _modules(f"experiments.{package}.run", "experiments.evidence.papers")
    folder = out or Path(f"reproduced-{paper}")
    try:
        experiment.main([*(["--quick"] if quick else []), "--out", str(folder)])
    except SystemExit as stop:  # an experiment ends with a sentence where it cannot go on
        if isinstance(stop.code, str):
            raise WorldError(stop.code) from None
        raise
    reproduction = papers.REPRODUCTIONS[paper]
    claims = reproduction.claims(folder, quick=quick)
    _print(paper, claims, folder / reproduction.page, quick=quick, json=json)


def _modules(*names: str) -> list[ModuleType]:
    """Modules of the clone."""
    sys.path.insert(0, str(ROOT))
    try:
        return [importlib.import_module(name) for name in names]
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
