"""The tables, verdicts and figures: into docs/verbs/schedule.md, or into a folder of their own."""

from collections.abc import Sequence
from pathlib import Path

from experiments.cradle.cells import FEWEST, LOADS, LOCAL, MACHINES
from experiments.cradle.claims import all_claims
from experiments.cradle.figures import pictures
from experiments.cradle.tables import complete, fewest_table, load_table, local_table, machine_table, traces_of
from experiments.results import ROOT, Row, measured_on, picked, put, rows
from experiments.verdicts import RULE, claim_table

HERE = Path(__file__).parent
DOCS = ROOT / "docs"
MARKER = "cradle"


def lines_of(measured: Sequence[Row]) -> list[str]:
    """What stands between the markers."""
    loads = picked(measured, part=LOADS)
    if not loads:
        return ["Not measured."]
    said = [f"{len(measured):,} cells; {_broken(measured)} Measured on {measured_on(measured)}.", ""]
    said += [RULE, "", *claim_table(all_claims(measured)), ""]
    for trace in traces_of(loads):
        word = trace.replace("_", "-")
        said += [f"**{trace}**: served by load", "", *load_table(measured, trace), ""]
        said += [f"![{trace}: served over load](pictures/cradle-{word}-served.svg)", ""]
        said += [f"![{trace}: served over resources](pictures/cradle-{word}-used.svg)", ""]
    said += ["![Ratio over load](pictures/cradle-ratio.svg)", ""]
    if picked(measured, part=MACHINES):
        said += ["**Over the number of machines**", "", *machine_table(measured), ""]
        said += ["![Ratio over machines](pictures/cradle-machines.svg)", ""]
    if picked(measured, part=FEWEST):
        said += [
            "**The fewest machines on which `cradle+` serves as many as the better baseline**",
            "",
            *fewest_table(measured),
            "",
        ]
    if picked(measured, part=LOCAL):
        said += ["**What exchanges add**", "", *local_table(measured), ""]
    return said[:-1]


def _broken(measured: Sequence[Row]) -> str:
    broken = sum(row["broken"] not in ("", "0") for row in measured)
    return "the referee found every schedule sound." if not broken else f"**{broken} schedules break a capacity.**"


def write_pages(folder: Path, *, in_docs: bool) -> None:
    """From cells.csv of `folder` into docs/, or into tables.md and pictures beside it."""
    measured = complete(rows(folder / "cells.csv"))
    target = DOCS if in_docs else folder
    (target / "pictures").mkdir(exist_ok=True)
    for name, drawing in pictures(measured).items() if picked(measured, part=LOADS) else ():
        (target / "pictures" / name).write_text(drawing, encoding="utf-8")
    if in_docs:
        page = DOCS / "verbs" / "schedule.md"
        page.write_text(put(page.read_text(encoding="utf-8"), MARKER, lines_of(measured)), encoding="utf-8")
    else:
        (folder / "tables.md").write_text("\n".join(["# Cradle", "", *lines_of(measured), ""]), encoding="utf-8")


if __name__ == "__main__":
    write_pages(HERE, in_docs=True)
