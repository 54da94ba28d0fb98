"""Write the tables and figures: into the docs, or into a folder of their own."""

from collections.abc import Sequence
from pathlib import Path

from experiments.freecontainer.figures import figure
from experiments.freecontainer.tables import place_lines, real_lines, rebalance_lines
from experiments.results import ROOT, Row, put, rows

DOCS = ROOT / "docs"
PLACE, REBALANCE = "place-costs-table", "rebalance"  # markers
FIGURES = {
    "table4": ("freecontainer-figure-4.svg", "Utilisation in DC_A after placing ([FreeContainer] Figure 4)"),
    "table6": ("freecontainer-figure-5.svg", "Utilisation in DC_A after rebalancing ([FreeContainer] Figure 5)"),
}


def pictures(curves: Sequence[Row]) -> dict[str, str]:
    """File names and SVG documents of the figures that were measured."""
    drawn = {}
    for table, (name, title) in FIGURES.items():
        mine = [row for row in curves if row["table"] == table]
        if mine:
            drawn[name] = figure(mine, title)
    return drawn


def lines_of(measured: Sequence[Row], curves: Sequence[Row], real: Sequence[Row]) -> dict[str, list[str]]:
    """What stands between each marker."""
    drawn, shown = pictures(curves), {}
    for table, (name, title) in FIGURES.items():
        shown[table] = [f"![{title}](pictures/{name})", ""] if name in drawn else []
    rebalanced = rebalance_lines(measured)
    layouts = real_lines(real)
    gap = [""] if rebalanced and layouts else []
    return {
        PLACE: [*shown["table4"], *place_lines(measured)],
        REBALANCE: [*shown["table6"], *rebalanced, *gap, *layouts],
    }


def write_pages(folder: Path, *, in_docs: bool) -> None:
    """From the CSV files of `folder` into docs/, or into tables.md and pictures beside the files."""
    curves = rows(folder / "curves.csv")
    lines = lines_of(rows(folder / "costs.csv"), curves, rows(folder / "real.csv"))
    target = DOCS if in_docs else folder
    (target / "pictures").mkdir(exist_ok=True)
    for name, drawing in pictures(curves).items():
        (target / "pictures" / name).write_text(drawing, encoding="utf-8")
    if not in_docs:
        text = ["# Place", "", *lines[PLACE], "", "# Rebalance", "", *lines[REBALANCE], ""]
        (folder / "tables.md").write_text("\n".join(text), encoding="utf-8")
        return
    for marker, page in ((PLACE, "place.md"), (REBALANCE, "rebalance.md")):
        path = DOCS / "verbs" / page
        path.write_text(put(path.read_text(encoding="utf-8"), marker, lines[marker]), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(__file__).parent, in_docs=True)
