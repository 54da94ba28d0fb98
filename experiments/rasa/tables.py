"""Tables of measured answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from experiments.results import Row, picked

NOTHING = ["Not measured."]
Column = Callable[[Sequence[Row]], str]


def answered(measured: Iterable[Row]) -> list[Row]:
    """Rows that have an answer."""
    return [row for row in measured if not row["fault"]]


def numbers(measured: Iterable[Row], column: str) -> list[float]:
    """A column, where there is an answer."""
    return [float(row[column]) for row in answered(measured) if row[column]]


def affinity(measured: Iterable[Row], **where: str) -> float | None:
    """The median of the gained affinity of some rows; None if none has an answer."""
    found = numbers(picked(measured, **where), "affinity")
    return median(found) if found else None


def value(row: Row, name: str) -> str:
    """An option of a row."""
    return dict(word.split("=", 1) for word in row["options"].split()).get(name, "")


def table(measured: Sequence[Row], by: Sequence[str], columns: Mapping[str, Column]) -> list[str]:
    """One line for all rows that are alike in the columns `by`, in the order of the file."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in measured:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    head = [*by, *columns]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for key, rows in groups.items():
        lines.append(f"| {' | '.join([*(_shown(word) for word in key), *(column(rows) for column in columns.values())])} |")
    return lines


def _shown(word: str) -> str:
    return f"`{word}`" if word and not word.replace(".", "").isdigit() else word


def spread(column: str, form: str = ".4f") -> Column:
    """The median, and least and most if there are several."""

    def shown(rows: Sequence[Row]) -> str:
        found = numbers(rows, column)
        if not found:
            return "-"
        span = f" ({min(found):{form}} to {max(found):{form}})" if len(found) > 1 else ""
        return f"{median(found):{form}}{span}"

    return shown


def highest(column: str, form: str) -> Column:
    """The largest."""
    return lambda rows: f"{max(found):{form}}" if (found := numbers(rows, column)) else "-"


def seeds(rows: Sequence[Row]) -> str:
    """How many."""
    return str(len(rows))


def placed(rows: Sequence[Row]) -> str:
    """Do all containers have a machine?"""
    some = answered(rows)
    if not some:
        return "-"
    missing = max(int(row["containers"]) - int(row["placed"]) for row in some)
    return "all" if not missing else f"all but {missing:,}"


def valid(rows: Sequence[Row]) -> str:
    """What the referee says, or why there is no answer."""
    faults = sorted({row["fault"] for row in rows if row["fault"]})
    return "; ".join(faults) if faults else "yes" if all(row["valid"] == "yes" for row in rows) else "**no**"


def sound(row: Row) -> bool:
    """Is everything placed, and no rule broken?"""
    return not row["fault"] and row["valid"] == "yes" and row["placed"] == row["containers"]


QUALITY: Mapping[str, Column] = {
    "seeds": seeds,
    "gained affinity": spread("affinity"),
    "moved": spread("moved", ".1%"),
    "placed": placed,
    "valid": valid,
    "wall s": highest("wall", ".1f"),
    "CPU s": highest("cpu", ".1f"),
    "GiB": highest("memory", ".2f"),
}
