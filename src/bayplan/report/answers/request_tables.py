"""Requests in numbers, before anything decides on them."""

from collections.abc import Mapping
from typing import Any

from bayplan.report.amounts import score
from bayplan.report.table import UNKNOWN, Cell, Report, Table, TableColumn, facts, report, score_cell, table

MOST_CLASSES = 12  # classes that are named


def requests_report(answer: Mapping[str, Any]) -> Report:
    """What `show` prints about requests, from the object that it says as JSON."""
    timed = answer["kind"] == "timed requests"
    unit = "machines" if timed else "times all zones"
    known = facts(
        (answer["kind"], f"{answer['requests']:,}"),
        ("value", score(answer["value"])),
        ("time", "none" if answer["first_start"] is None else f"{answer['first_start']:g} to {answer['last_end']:g}"),
        ("load", f"{score(answer['load'])} {unit} on average" if answer["load"] == answer["load"] else UNKNOWN),
        *(_timed_facts(answer) if timed else [(name, f"{answer[name]:,}") for name in ("members", "zones", "links")]),
    )
    return report(known, _resource_table(answer, unit), _busy_table(answer, unit))


def _timed_facts(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    wide = ", ".join(f"{number:,} in {name}" for name, number in answer["wide"].items())
    fleet = "" if answer["machines"] is None else f"{answer['machines']:,} machines, load factor {score(answer['load_factor'])}"
    classes = list(answer["classes"].items())[:MOST_CLASSES]
    return [
        ("narrow", f"{answer['narrow']:,}"),
        ("wide", f"{wide}: more than half of a machine"),
        ("too large", f"{answer['larger_than_a_machine']:,} for one machine"),
        ("fleet", fleet),
        ("classes", ", ".join(f"{name} {number:,}" for name, number in classes)),
    ]


def _resource_table(answer: Mapping[str, Any], unit: str) -> Table:
    capacity = TableColumn("one has" if unit == "machines" else "all have", key="of")
    columns = (
        TableColumn("resource"),
        capacity,
        TableColumn(f"mean, {unit}", "number", key="mean"),
        TableColumn(f"peak, {unit}", "number", key="peak"),
    )
    rows = ((Cell(r["name"]), Cell(r["of"]), score_cell(r["mean"]), score_cell(r["peak"])) for r in answer["resources"])
    return table(columns, rows)


def _busy_table(answer: Mapping[str, Any], unit: str) -> Table:
    columns = (TableColumn("from", "number"), TableColumn("to", "number"), TableColumn(unit, "number", key="load"))
    rows = (
        (Cell(f"{row['from']:g}", row["from"]), Cell(f"{row['to']:g}", row["to"]), score_cell(row["load"]))
        for row in answer["busiest"]
    )
    return table(columns, rows, title="Busiest times")
