"""A sweep over the number of machines: what each number is good for, and the fewest that serve a stated share."""

from collections.abc import Sequence

from bayplan.report.amounts import odds
from bayplan.report.answers.schedule_tables import share_of
from bayplan.report.table import (
    UNKNOWN,
    Cell,
    Report,
    Table,
    TableColumn,
    count_cell,
    facts,
    report,
    score_cell,
    share_cell,
    table,
)
from bayplan.score.machine_sweep import FewestMachines, SweepPoint, slopes
from bayplan.words import count

SWEEP = (
    TableColumn("machines", "number"),
    TableColumn("served", "number", drop=1),
    TableColumn("share", "share"),
    TableColumn("value", "number"),
    TableColumn("proven bound", "number", key="bound"),
    TableColumn("gap", "share", drop=3),
    TableColumn("one more adds", "number"),
    TableColumn("the bound gains at most", "number", drop=2, key="price"),
)


def sweep_headline(points: Sequence[SweepPoint], fewest: FewestMachines | None) -> str:
    """The fewest machines if they were wanted; else how many numbers of machines were tried."""
    return fewest_words(fewest) if fewest is not None else f"{count(len(points), 'number')} of machines tried"


def sweep_report(points: Sequence[SweepPoint], fewest: FewestMachines | None, *, method: str, requests: int) -> Report:
    """What `schedule --sweep` prints."""
    known = facts(("method", method), ("requests", f"{requests:,}"), ("fewest machines", fewest_words(fewest) if fewest else ""))
    return report(known, sweep_table(points, requests))


def sweep_table(points: Sequence[SweepPoint], requests: int) -> Table:
    """One line for each number of machines."""
    rows = (_point(point, slope, requests) for point, slope in zip(points, slopes(points), strict=True))
    return table(SWEEP, rows, title="By number of machines")


def _point(point: SweepPoint, slope: float | None, requests: int) -> tuple[Cell, ...]:
    return (
        count_cell(point.machines),
        count_cell(point.served),
        share_cell(share_of(point.served, requests)),
        score_cell(point.value),
        score_cell(point.bound),
        Cell(UNKNOWN if point.gap is None else odds(point.gap), point.gap),
        score_cell(slope),
        score_cell(point.price),
    )


def fewest_words(fewest: FewestMachines) -> str:
    """'95 % needs 412 machines: they serve 95.02 %, 411 serve 94.9 %; proven: fewer than 380 never do'."""
    share = _exact(fewest.share)
    if fewest.machines is None:
        return f"{share}: not reached; the most that was served is {_exact(fewest.served)}"
    less = "" if fewest.one_less is None else f", one less serves {_exact(fewest.one_less)}"
    proven = "" if fewest.at_least is None else f"; proven: fewer than {fewest.at_least:,} never do"
    return f"{count(fewest.machines, 'machine')} for {share}: they serve {_exact(fewest.served)}{less}{proven}"


def _exact(share: float) -> str:
    return f"{100 * share:.4g} %"
