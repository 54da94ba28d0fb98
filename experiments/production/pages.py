"""docs/verbs/production.md, whose tables about the performance model are made from performance.csv and parts.csv."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.production.tables import freecontainer_lines, rasa_lines, sensitivity_lines, service_lines, simulated_lines
from experiments.results import ROOT, Row, measured_on, picked, put

DOCS = ROOT / "docs" / "verbs" / "production.md"


def blocks(measured: Sequence[Row], parts: Sequence[Row]) -> Mapping[str, list[str]]:
    """The lines of each marker of the page."""
    where = ["", f"Computed on {measured_on(measured)}."]
    found: dict[str, list[str]] = {}
    if picked(measured, study="rasa"):
        found["production-rasa"] = [*rasa_lines(measured, parts), *where]
        found["production-rasa-grid"] = sensitivity_lines(measured)
    if picked(measured, study="freecontainer"):
        found["production-freecontainer"] = [*freecontainer_lines(measured), *where]
        found["production-services"] = service_lines(measured, parts)
    if measured:
        found["production-simulated"] = simulated_lines(measured)
    return found


def write_page(folder: Path, measured: Sequence[Row], parts: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs, or into a page of the same name in the folder that has nothing but the tables."""
    found = blocks(measured, parts)
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in found)
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    for marker, lines in found.items():
        text = put(text, marker, lines)
    (DOCS if in_docs else folder / DOCS.name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the page anew from what was computed."""
    from experiments.results import rows

    here = Path(__file__).parent
    write_page(here, rows(here / "performance.csv"), rows(here / "parts.csv"), in_docs=True)


if __name__ == "__main__":
    main()
