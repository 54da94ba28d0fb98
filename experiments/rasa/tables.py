"""Tables of measured answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from experiments.results import Row, picked

NOTHING = ["Not measured."]
WHOLE = 0.9  # of its seconds: who takes less has ended by itself
SAME_CPU = 1.15  # CPU seconds of answers that may be compared differ by less than this factor
A_LOOK = 1.0  # seconds: who has less is only looked at, and never late
IN_TIME = 1.05  # times its seconds; later ones are out of time, as in [RASA] §V-D
Column = Callable[[Sequence[Row]], str]


def answered(measured: Iterable[Row]) -> list[Row]:
    """Rows that have an answer."""
    return [row for row in measured if not row["fault"]]


class Comparable(NamedTuple):
    """Rows that verdicts may compare, and those that they may not."""

    rows: list[Row]
    late: list[Row]
    unequal: list[Row]  # had all their seconds, but not as much CPU as others on that cluster

    @property
    def note(self) -> str:
        """What is left out; empty if nothing is."""
        words = [f"{len(self.late)} late"] * bool(self.late) + [f"{len(self.unequal)} with unequal CPU"] * bool(self.unequal)
        return f"left out: {', '.join(words)}" if words else ""


def comparable(measured: Iterable[Row]) -> Comparable:
    """Answers sorted by whether they may be compared. Equal CPU: that of the median of those that took all their seconds."""
    found = answered(measured)
    late = [row for row in found if float(row["wall"]) > IN_TIME * float(row["seconds"]) and float(row["seconds"]) >= A_LOOK]
    rest = [row for row in found if row not in late]
    usual = {key: median(float(row["cpu"]) for row in rows) for key, rows in _grouped(filter(takes_all, rest)).items()}
    unequal = [row for row in rest if takes_all(row) and not _near(float(row["cpu"]), usual[_budget(row)])]
    return Comparable([row for row in rest if row not in unequal], late, unequal)


def takes_all(row: Row) -> bool:
    """Did it take all its seconds?"""
    return float(row["wall"]) >= WHOLE * float(row["seconds"]) >= WHOLE * A_LOOK


def _near(cpu: float, usual: float) -> bool:
    return usual / SAME_CPU <= cpu <= usual * SAME_CPU


def _budget(row: Row) -> tuple[str, str, str]:
    return row["cluster"], row["seconds"], row["threads"]


def _grouped(measured: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in measured:
        groups.setdefault(_budget(row), []).append(row)
    return groups


def without_solver(row: Row) -> bool:
    """Are there subproblems, and was none of them solved by a solver?"""
    return bool(row["by_greedy"]) and not int(row["by_cg"]) + int(row["by_mip"])


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


def solvers(rows: Sequence[Row]) -> str:
    """Subproblems by solver, summed over seeds; '**none ran**' where greedy placement answered all of them."""
    some = [row for row in answered(rows) if row["by_greedy"]]
    if not some:
        return "-"
    total = {name: sum(int(row[f"by_{name}"]) for row in some) for name in ("cg", "mip", "greedy")}
    words = ", ".join(f"{number} {name}" for name, number in total.items() if number)
    none = sum(map(without_solver, some))
    return f"{words}; **none ran**{f' in {none} of {len(some)}' * (none < len(some))}" if none else words


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
