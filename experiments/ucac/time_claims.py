"""Run times of [UCaC] §6.1.4 beside ours: a time is a limit. Being faster is no contradiction, so all are one-sided."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from experiments.results import Row
from experiments.ucac.figures import SECONDS, THEIR_NAME
from experiments.verdicts import Claim, at_most, judged

HEURISTICS = ("bf-nsigma", "bf-ucac", "bi-level")
TENS, ONE = 100.0, 1.0  # seconds for K up to 15: "tens of seconds", "less than 1 s"
FEW_SERVICES = 15
FIRST, TEN_TIMES = "14,213 containers onto 4,000", "142,130 containers onto 40,000"
GROWTH = 100.0  # of O(M N) where both are ten times as many


def time_claims(columns: Sequence[Row], stock: Sequence[Row], benchmark: Sequence[Row]) -> Iterator[Claim]:
    """Best fit, pattern generation, and the cutting stock step."""
    yield from _heuristics({row["name"]: row for row in benchmark})
    twenty = {
        f"{row['seed']} {row['goal']}": float(row["seconds"])
        for row in columns
        if (row["services"], row["alpha"]) == ("20", "0.999")
    }
    yield _limit("pattern generation to strict convergence, K = 20, 99.9 %", SECONDS["pattern generation"], twenty)
    yield from _cutting_stock(stock)


def _heuristics(newest: Mapping[str, Row]) -> Iterator[Claim]:
    for method in HEURISTICS:
        found = {name: float(row["seconds"]) for name, row in newest.items() if name.startswith(f"{method}: {FIRST}")}
        yield _limit(f"{THEIR_NAME[method]} packs 14,213 containers in that time", SECONDS[method], found)
    pairs = {name: name.replace(FIRST, TEN_TIMES) for name in newest if FIRST in name}
    growth = {
        name: float(newest[large]["cpu_seconds"]) / float(newest[name]["cpu_seconds"])
        for name, large in pairs.items()
        if large in newest
    }
    text, most = "best fit and BiHeu take O(M N): ten times both, at most 100 times the time", max(growth.values(), default=0.0)
    yield judged("§6.1.4", text, at_most(GROWTH), growth, paper="O(M N)", ours=f"{most:.0f} times at most")


def _cutting_stock(stock: Sequence[Row]) -> Iterator[Claim]:
    """(8) in whole numbers, and what is left to its bound at the end."""
    largest = [row for row in stock if (row["services"], row["alpha"]) == ("20", "0.999")]
    gap = max((float(row["gap"] or inf) for row in largest), default=inf)
    end = f", within {gap:.3%} of the bound" if largest else ""
    yield _limit("the cutting stock step, K = 20, 99.9 %", SECONDS["cutting stock"], _cpu(largest, "stock"), end)
    few = [row for row in stock if int(row["services"]) <= FEW_SERVICES]
    yield _limit("the cutting stock step, K up to 15", ONE, _cpu(few, "stock"), paper="less than 1 s")
    text = f"pattern generation, K up to 15, at most {TENS:g} s"
    yield _limit(text, TENS, _cpu(few, "pattern"), paper="tens of seconds")


def _cpu(stock: Sequence[Row], part: str) -> dict[str, float]:
    return {f"{row['case']} K={row['services']} {row['alpha']} {row['seed']}": float(row[f"{part}_cpu_seconds"]) for row in stock}


def _limit(text: str, limit: float, found: Mapping[str, float], end: str = "", *, paper: str = "") -> Claim:
    shown = f"{max(found.values()):.3g} s at most{end}" if found else None
    return judged("§6.1.4", text, at_most(limit), found, paper=paper or f"{limit:,g} s", ours=shown)
