"""Claims of a paper beside what was measured, as a table: one line each."""

from collections.abc import Iterable
from typing import Protocol

from bayplan.report.table import Cell, Style, Table, TableColumn, table

COLUMNS = (TableColumn("claim"), TableColumn("the paper", key="paper"), TableColumn("ours"), TableColumn("verdict", least=14))
STYLES: dict[str, Style] = {"reproduced": "good", "direction only": "warn", "not reproduced": "bad", "not tested": "soft"}


class JudgedClaim(Protocol):
    """What an experiment says of a claim."""

    @property
    def where(self) -> str:
        """'Table IV, DC_A'."""

    @property
    def text(self) -> str:
        """The claim."""

    @property
    def stated(self) -> str:
        """The paper's number."""

    @property
    def ours(self) -> str:
        """Our number."""

    @property
    def rule(self) -> str:
        """How far off it may be."""

    @property
    def cases(self) -> str:
        """In how many cases it holds."""

    @property
    def verdict(self) -> str:
        """One of four words."""


def verdict_table(claims: Iterable[JudgedClaim], *, title: str = "") -> Table:
    """One line for each claim: beside the paper's number how far off it may be, beside ours in how many cases it holds."""
    rows = (
        (
            Cell(f"{claim.where}: {claim.text}"),
            Cell(f"{claim.stated} ({claim.rule})"),
            Cell(f"{claim.ours} ({claim.cases})" if claim.cases else claim.ours),
            Cell(str(claim.verdict), style=STYLES.get(str(claim.verdict), "")),
        )
        for claim in claims
    )
    return table(COLUMNS, rows, title=title)
