"""docs/verbs/production-week.md, whose tables and picture are made from the rows that were measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bayplan.report.pictures.over_time import ShareCurve, shares_over_time
from experiments.production.week_figures import CellFigures, figures_of
from experiments.production.week_settings import ALONE, LOCAL, PER_DAY, STEADY
from experiments.production.week_tables import again_lines, cell_lines, claim_lines, first_day_lines, step_lines
from experiments.results import ROOT, Row, measured_on, put

DOCS = ROOT / "docs" / "verbs" / "production-week.md"
PICTURES = ROOT / "docs" / "pictures"
PICTURE = "production-week.svg"
TURNS, CELLS, AGAIN, STEPS = "week-turns.csv", "week-cells.csv", "week-again.csv", "week-steps.csv"


def blocks(measured: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """The lines of each marker of the page."""
    figures = figures_of(measured[TURNS], measured[CELLS])
    every = [row for name in (CELLS, AGAIN, STEPS) for row in measured[name]]
    return {
        "week-claims-local": claim_lines(figures, LOCAL),
        "week-claims-steady": claim_lines(figures, STEADY),
        "week-cells": cell_lines(figures),
        "week-first-day": first_day_lines(figures),
        "week-again": again_lines(measured[AGAIN]),
        "week-steps": step_lines(measured[STEPS]),
        "week-machine": [f"Measured on {measured_on(every)}."] if every else [],
    }


def picture(figures: Sequence[CellFigures]) -> str:
    """Gained affinity over the days of the longest cells, as an SVG document; empty if there are none."""
    longest = max((float(each.end["days"]) for each in figures), default=0.0)
    shown = [each for each in figures if float(each.end["days"]) == longest and each.end["variant"] in (ALONE, LOCAL, STEADY)]
    first = [each for each in shown if each.end["seed"] == shown[0].end["seed"]]
    if not first:
        return ""
    curves = [
        ShareCurve(
            name=each.end["variant"],
            share=np.array([float(row["local"]) for row in each.turns]),
            note=f"{sum(int(row['moved']) > 0 for row in each.turns)} executions",
        )
        for each in first
    ]
    edge = np.arange(len(first[0].turns) + 1) / PER_DAY
    words = f"share of traffic that stays on one machine, {first[0].end['cluster']}, every half hour; time in days"
    return shares_over_time(curves, edge, title="A simulated week", words=words)


def write_page(folder: Path, measured: Mapping[str, Sequence[Row]], *, in_docs: bool) -> None:
    """Into docs/verbs, or into a page of the same name in the folder that has nothing but the tables."""
    drawn = picture(figures_of(measured[TURNS], measured[CELLS]))
    if drawn:
        (PICTURES if in_docs else folder).joinpath(PICTURE).write_text(drawn, encoding="utf-8")
    page = DOCS if in_docs else folder / DOCS.name
    page.write_text(_text(blocks(measured), in_docs=in_docs), encoding="utf-8")


def _text(lines_of: Mapping[str, list[str]], *, in_docs: bool) -> str:
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in lines_of)
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    for marker, lines in lines_of.items():
        text = put(text, marker, lines)
    return text


def main() -> None:
    """Write the page anew from what was measured."""
    from experiments.results import rows

    here = Path(__file__).parent
    write_page(here, {name: rows(here / name) for name in (TURNS, CELLS, AGAIN, STEPS)}, in_docs=True)


if __name__ == "__main__":
    main()
