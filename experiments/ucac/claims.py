"""What section 6 of [UCaC] says beside what we measured.

Tables 1, 2 and 4 are judged cell by cell, each cell against its own number of the paper.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.results import ROOT, Row, rows
from experiments.ucac.figure_claims import figure_claims, trace_claims
from experiments.ucac.figures import ALPHAS, BEST_N, MACHINES_FIRST, METHODS, SERVICES, TABLE, TABLE_4, THEIR_NAME, Cell
from experiments.ucac.tables import METRICS, NAME, SIMILAR, SLACK, by_seed, counts, judge, means, paper, ratio
from experiments.ucac.time_claims import time_claims
from experiments.ucac.week_tables import BASE, best_n, totals
from experiments.verdicts import (
    Claim,
    Verdict,
    about,
    above,
    at_most,
    judged,
    level,
    near,
    percent,
    together,
)

OURS = ("bf-ucac", "bi-level", "csp-ucac")  # the three methods of the paper
SLIGHTLY = 1.0  # machine-days in a week
MOST_CASES = 0.5  # "in most cases"
PAGE = "verbs/ucac.md"
FILES = ("cells", "week", "columns", "figure3", "stock", "days")
LESS = {"UCaC": "less UCaC", "machines": "fewer machines"}


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim that the CSV files of a folder have the rows for; run times of best fit are those of the benchmarks."""
    cells, week, columns, curves, stock, days = (rows(folder / f"{name}.csv") for name in FILES)
    benchmark = [] if quick else rows(ROOT / "benchmarks" / "pack.csv")
    drawn = f"drawn from Table 5, {count(len({row['seed'] for row in cells}), 'seed')}"
    made = f"generated week, {count(len({row['seed'] for row in week}), 'seed')}"
    found = [replace(claim, scale=drawn) for claim in (*table_claims(cells), *empty_claims(cells)) if cells]
    found += [replace(claim, scale="drawn from Table 5") for claim in figure_claims(curves)]
    found += [replace(claim, scale=made) for claim in week_claims(week) if week]
    found += [replace(claim, scale="one core, not 8; HiGHS, not Gurobi") for claim in time_claims(columns, stock, benchmark)]
    found += [replace(claim, scale="other traces; the paper's is not public") for claim in trace_claims(days)]
    return [replace(claim, page=PAGE) for claim in found]


# ---- Tables 1 and 2 ------------------------------------------------------------------------------------------------------------


def table_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Scale-down and scale-up."""
    for case, method, metric in product(("scale-down", "scale-up"), METHODS[1:], METRICS):
        yield _cells(measured, case, method, metric)
    for case, method in product(("scale-down", "scale-up"), OURS):
        for metric, number in METRICS.items():
            saved = {name: 1 - ours[number] for name, ours, _ in _pairs(measured, case, method)}
            text = f"{THEIR_NAME[method]} has {LESS[metric]} than BF-nσ in every test case"
            yield judged(_where(case), text, above(), saved)
    yield from _alike(measured)
    for other in MACHINES_FIRST:
        yield from _against_machines(measured, other)
    for case in ("scale-down", "scale-up"):
        yield _violations(measured, case, OURS)


def _where(case: str) -> str:
    return NAME[case].partition(",")[0]


def _pairs(measured: Sequence[Row], case: str, method: str) -> Iterator[tuple[str, Cell, Cell]]:
    """Name, ours and the paper's of each cell that both have."""
    for services, alpha in product(SERVICES, ALPHAS):
        ours, theirs = ratio(measured, case, services, alpha, method), paper(case, services, alpha, method)
        if ours and theirs:
            yield f"K={services} {alpha:.1%}", ours, theirs


def _cells(measured: Sequence[Row], case: str, method: str, metric: str) -> Claim:
    """One method and metric: all its cells, each against its own number."""
    number = METRICS[metric]
    words = {name: judge(ours[number], theirs[number]) for name, ours, theirs in _pairs(measured, case, method)}
    return summed(_where(case), f"{metric} of {THEIR_NAME[method]} over BF-nσ's", words, _ends(case, method, number, measured))


def summed(where: str, text: str, words: dict[str, Verdict], shown: tuple[str, str]) -> Claim:
    """A claim about several cells that have verdicts of their own."""
    good = sum(word is Verdict.REPRODUCED for word in words.values())
    cases = f"{good} of {len(words)}" if words else ""
    return Claim(
        where=where,
        text=text,
        stated=shown[0],
        ours=shown[1],
        verdict=together(list(words.values())),
        rule=f"±{SLACK:g}",
        cases=cases,
    )


def _ends(case: str, method: str, number: int, measured: Sequence[Row]) -> tuple[str, str]:
    theirs = [cell[number] for key, both in TABLE[case].items() if key[1] == method for cell in both]
    ours = [pair[1][number] for pair in _pairs(measured, case, method)]
    return f"{min(theirs):.2f} to {max(theirs):.2f}", f"{min(ours):.3f} to {max(ours):.3f}" if ours else "-"


def _alike(measured: Sequence[Row]) -> Iterator[Claim]:
    """The three methods over all test cases of one confidence: how far each is from their mean."""
    for metric, number in METRICS.items():
        off: dict[str, float] = {}
        for case, method, alpha in product(("scale-down", "scale-up"), OURS, ALPHAS):
            found = {k: cell[number] for k in SERVICES if (cell := ratio(measured, case, k, alpha, method))}
            off |= {f"{case} {method} K={k} {alpha:.1%}": value - mean(found.values()) for k, value in found.items()}
        text = f"the three methods perform similarly over test cases: {metric} from the mean over K"
        shown = f"{max(map(abs, off.values())):.3f} at most" if off else None
        yield judged("§6.1.1", text, near(0.0, SIMILAR), off, paper="similar", ours=shown)


def _against_machines(measured: Sequence[Row], other: str) -> Iterator[Claim]:
    """CSP-UCaC and CSP-Mac in both cases."""
    down = _gaps(measured, "scale-down", other, METRICS["UCaC"])
    theirs = mean(_their_gap("scale-down", services, alpha) for services, alpha in product(SERVICES, ALPHAS))
    text = f"CSP-UCaC has less UCaC than {THEIR_NAME[other]}, of BF-nσ's"
    yield judged("Table 1", text, about(theirs), down, paper=percent(theirs))
    for metric, number in METRICS.items():
        text = f"CSP-UCaC and {THEIR_NAME[other]} have similar {metric}, within {SIMILAR:g} of BF-nσ's"
        yield judged("Table 2", text, near(0.0, SIMILAR), _gaps(measured, "scale-up", other, number), paper="similar")


def _gaps(measured: Sequence[Row], case: str, other: str, number: int) -> dict[str, float]:
    """By test case: what `other` has more than csp-ucac, of BF-nσ's."""
    saved = {}
    for k, alpha in product(counts(measured), ALPHAS):
        mine, his = (ratio(measured, case, k, alpha, method) for method in ("csp-ucac", other))
        if mine and his:
            saved[f"K={k} {alpha:.1%}"] = his[number] - mine[number]
    return saved


def _their_gap(case: str, services: int, alpha: float) -> float:
    mine, other = (paper(case, services, alpha, method) for method in ("csp-ucac", "csp-mac"))
    assert mine and other
    return other.ucac - mine.ucac


def _violations(measured: Sequence[Row], case: str, methods: Sequence[str]) -> Claim:
    """The mean over seeds of each cell is below 1 - alpha in most."""
    held = []
    for method, services, alpha in product(methods, counts(measured), ALPHAS):
        found = [float(row["violation"]) for row in by_seed(measured, case, services, alpha, method).values()]
        held += [float(mean(found) <= 100 * (1 - alpha))] if found else []
    text, shown = "violations are below 1 - alpha in most cases", f"in {sum(held):g} of {len(held)}"
    return judged(_where(case), text, above(MOST_CASES), mean(held) if held else None, paper="most", ours=shown)


# ---- Table 3 -------------------------------------------------------------------------------------------------------------------


def empty_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """CSP-UCaC and CSP-Mac on the empty cluster."""
    for other in MACHINES_FIRST:
        yield from _on_empty(measured, other)
    yield _violations(measured, "empty", ("csp-ucac", *MACHINES_FIRST))


def _on_empty(measured: Sequence[Row], other: str) -> Iterator[Claim]:
    less, more, apart, excess = {}, {}, {}, []
    for services, alpha in product(counts(measured), ALPHAS):
        mine, his = (means(measured, services, alpha, method) for method in ("csp-ucac", other))
        theirs = [paper("empty", services, alpha, method) for method in ("csp-ucac", other)]
        if mine and his:
            name = f"K={services} {alpha:.1%}"
            less[name], more[name] = 1 - mine.ucac / his.ucac, mine.machines / his.machines - 1
            apart[name] = (mine.violation - his.violation) / (100 * (1 - alpha))
        excess += [theirs[0].machines / theirs[1].machines - 1] if theirs[0] and theirs[1] else []
    shown = f"{mean(less.values()):.3%} less" if less else None
    yield judged("Table 3", f"CSP-UCaC has less UCaC than {THEIR_NAME[other]} in every test case", above(), less, ours=shown)
    text = f"CSP-UCaC has as many machines as {THEIR_NAME[other]}, or up to {SIMILAR:.0%} more"
    shown = f"{min(more.values()):+.2%} to {max(more.values()):+.2%}" if more else None
    paper_span = f"{min(excess):+.2%} to {max(excess):+.2%}" if excess else "slightly more"
    yield judged("Table 3", text, at_most(SIMILAR), more, paper=paper_span, ours=shown)
    text, shown = f"violations of CSP-UCaC and {THEIR_NAME[other]} are similar, over 1 - alpha", None
    if apart:
        shown = f"{min(apart.values()):+.2f} to {max(apart.values()):+.2f}"
    yield judged("Table 3", text, near(0.0, 0.5), apart, paper="similar", ours=shown)


# ---- Table 4 -------------------------------------------------------------------------------------------------------------------


def week_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Seven days."""
    ours = totals(measured)
    for metric, number in METRICS.items() if BASE in ours else ():
        mine = {label: ours[label][number] / ours[BASE][number] for label in TABLE_4 if label in ours and label != BASE}
        saved = {label: 1 - value for label, value in mine.items()}
        yield judged("Table 4", f"all others have {LESS[metric]} than BF-3.09σ", above(), saved)
        for label in [name for name in TABLE_4 if name != BASE]:
            his = TABLE_4[label][number] / TABLE_4[BASE][number]
            name = THEIR_NAME.get(label, label.replace("bf-", "BF-").replace("sigma", "σ"))
            shown = f"{mine[label]:.3f}" if label in mine else None
            stated, text = near(his, SLACK, neutral=1.0), f"{metric} of {name} over BF-3.09σ's"
            yield judged("Table 4", text, stated, mine.get(label), paper=f"{his:.3f}", ours=shown)
    for label in (*OURS, *MACHINES_FIRST):
        found, stated = ours[label].violations if label in ours else None, TABLE_4[label].violations
        text, shown = f"violations of {THEIR_NAME[label]}, machine-days", None if found is None else f"{found:.1f}"
        yield judged("Table 4", text, level(stated), found, paper=f"{stated:g}", ours=shown)
    yield from _best(measured)
    for other in MACHINES_FIRST:
        yield from _over_machines(measured, other)


def _best(measured: Sequence[Row]) -> Iterator[Claim]:
    ours, best = totals(measured), best_n(measured)
    if best is None:
        return
    yield judged("§6.2", "the best n of BF-nσ", level(BEST_N), best, paper=f"{BEST_N:g}", ours=f"{best:.2f}")
    label = f"bf-{best:.2f}sigma"
    for metric, number in METRICS.items():
        saved = {THEIR_NAME[method]: 1 - ours[method][number] / ours[label][number] for method in OURS if method in ours}
        yield judged("§6.2", f"the three methods have {LESS[metric]} than BF-nσ with the best n", above(), saved)


def _over_machines(measured: Sequence[Row], other: str) -> Iterator[Claim]:
    """What the three methods save of what CSP-Mac needs, and how much more often they overflow."""
    ours = totals(measured)
    for method, (metric, number) in product(OURS, METRICS.items()):
        his = 1 - TABLE_4[method][number] / TABLE_4[other][number]
        mine = 1 - ours[method][number] / ours[other][number] if {method, other} <= ours.keys() else None
        text = f"{THEIR_NAME[method]} has {LESS[metric]} than {THEIR_NAME[other]}"
        yield judged("§6.2", text, about(his), mine, paper=f"{his:.2%}", ours=None if mine is None else f"{mine:.2%}")
    more = {method: ours[method].violations - ours[other].violations for method in OURS if {method, other} <= ours.keys()}
    theirs = [TABLE_4[method].violations - TABLE_4[other].violations for method in OURS]
    text = f"only slightly more violations than {THEIR_NAME[other]}, at most {SLIGHTLY:g} machine-day"
    shown = f"{min(more.values()):+.1f} to {max(more.values()):+.1f}" if more else None
    yield judged("§6.2", text, at_most(SLIGHTLY), more, paper=f"{min(theirs):+.1f} to {max(theirs):+.1f}", ours=shown)
