"""docs/verbs/plan-combined.md, whose tables are made from the rows of cells.csv."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.combined.claims import claim_lines
from experiments.combined.tables import CLUSTERS, cluster_lines
from experiments.results import ROOT, Row, measured_on, picked, put

DOCS = ROOT / "docs" / "verbs" / "plan-combined.md"
CLAIMS = "combined-claims"


def blocks(measured: Sequence[Row]) -> Mapping[str, list[str]]:
    """The lines of each marker of the page."""
    where = f"Measured on {measured_on(measured)}."
    found = {f"combined-{name}": cluster_lines(measured, name) for name in CLUSTERS if picked(measured, cluster=name)}
    return {CLAIMS: [*claim_lines(measured), "", where], **found}


def write_page(folder: Path, measured: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs, or into a page of the same name in the folder that has nothing but the tables."""
    if not measured:
        return
    found = blocks(measured)
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in found)
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    for marker, lines in found.items():
        text = put(text, marker, lines)
    (DOCS if in_docs else folder / DOCS.name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the page anew from what was measured."""
    from experiments.results import rows

    here = Path(__file__).parent
    write_page(here, rows(here / "cells.csv"), in_docs=True)


if __name__ == "__main__":
    main()
