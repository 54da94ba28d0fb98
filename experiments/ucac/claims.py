"""What section 6 of [UCaC] says beside what we measured.

Tables 1, 2 and 4 are judged cell by cell, each cell against its own number of the paper.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean

from bayplan.score.confidence import deviate
from bayplan.words import count
from experiments.results import ROOT, Row, rows
from experiments.ucac.figure_claims import figure_claims, trace_claims
from experiments.ucac.figures import (
    ALPHAS,
    BEST_N,
    EXAMPLE,
    MACHINES_FIRST,
    METHODS,
    SERVICES,
    TABLE,
    TABLE_4,
    THEIR_NAME,
    Cell,
)
from experiments.ucac.level_claims import OURS, absolute_claims, label_of, summed, violation_claims, week_levels, where_of
from experiments.ucac.tables import METRICS, SIMILAR, SLACK, by_seed, counts, judge, means, paper, ratio
from experiments.ucac.time_claims import time_claims
from experiments.ucac.week_tables import BASE, best_n, totals
from experiments.verdicts import (
    Claim,
    about,
    above,
    at_least,
    at_most,
    judged,
    level,
    near,
    percent,
)

SLIGHTLY = 1.0  # machine-days in a week
MOST_CASES = 0.5  # "in most cases"
ROUNDED = 1e-6
PAGE = "verbs/ucac.md"
FILES = ("cells", "week", "columns", "figure3", "stock", "days")
LESS = {"UCaC": "less UCaC", "machines": "fewer machines"}
NO_MORE = {"UCaC": "no more UCaC", "machines": "no more machines"}
FITTED = "scale factors fitted to the machines of CSP-Mac at K = 20, on other seeds"
FITTED_WEEK = "size fitted to 41,400 cores, drift to 99.9 %, on other seeds"
ORDERS = (  # of methods: the first is said to be better
    ("§5.2", "bi-level", "bf-ucac", "which is online"),
    ("§5.3.2", "csp-ucac", "bf-ucac", "an online heuristic"),
    ("§5.3.2", "csp-ucac", "bi-level", "an offline heuristic"),
)


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim that the CSV files of a folder have the rows for; run times of best fit are those of the benchmarks."""
    cells, week, columns, curves, stock, days = (rows(folder / f"{name}.csv") for name in FILES)
    benchmark = [] if quick else rows(ROOT / "benchmarks" / "pack.csv")
    drawn = f"drawn from Table 5, {count(len({row['seed'] for row in cells}), 'seed')}"
    curve = f"drawn from Table 5, {count(len({row['seed'] for row in curves}), 'seed')}, K = 20, 99.9 %"
    made = f"generated week, {count(len({row['seed'] for row in week}), 'seed')}; {FITTED_WEEK}"
    found = [replace(example_claim(), scale="the paper's own numbers")]
    found += [replace(claim, scale=f"{drawn}; {FITTED}") for claim in table_claims(cells)]
    found += [replace(claim, scale=drawn) for claim in empty_claims(cells)]
    found += [replace(claim, scale=drawn) for claim in violation_claims(cells)]
    found += [replace(claim, scale=curve) for claim in figure_claims(curves)]
    found += [replace(claim, scale=made) for claim in week_claims(week)]
    found += [replace(claim, scale="one core, not 8; HiGHS, not Gurobi") for claim in time_claims(columns, stock, benchmark)]
    found += [replace(claim, scale="other traces; the paper's is not public") for claim in trace_claims(days)]
    return [replace(claim, page=PAGE) for claim in found]


def example_claim() -> Claim:
    """The example of section 4.1."""
    ours = sum(EXAMPLE.mean) + deviate(EXAMPLE.alpha) * sum(EXAMPLE.variance) ** 0.5
    text = "UCaC of N(2, 0.5), N(2, 1) and N(3, 1.5) on one machine at 99 %, cores"
    stated = near(EXAMPLE.ucac, 0.005)
    return judged("§4.1", text, stated, ours, paper=f"{EXAMPLE.ucac:.2f} with D = {EXAMPLE.d:g}", ours=f"{ours:.2f}")


# ---- Tables 1 and 2 ------------------------------------------------------------------------------------------------------------


def table_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Scale-down and scale-up."""
    for case, method, metric in product(("scale-down", "scale-up"), METHODS[1:], METRICS):
        yield _cells(measured, case, method, metric)
    for case, method in product(("scale-down", "scale-up"), OURS):
        for metric, number in METRICS.items():
            saved = {name: 1 - ours[number] for name, ours, _ in _pairs(measured, case, method)}
            text = f"{THEIR_NAME[method]} has {LESS[metric]} than BF-nσ in every test case"
            yield judged(where_of(case), text, above(), saved)
    yield from _alike(measured)
    for other, method in product(MACHINES_FIRST, OURS):
        yield from _against_machines(measured, method, other)
    yield from _orders(measured)
    for case in ("scale-down", "scale-up"):
        yield _violations(measured, case, OURS)


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
    return summed(where_of(case), f"{metric} of {THEIR_NAME[method]} over BF-nσ's", words, _ends(case, method, number, measured))


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


def _against_machines(measured: Sequence[Row], method: str, other: str) -> Iterator[Claim]:
    """One of the three methods and CSP-Mac in both cases."""
    down = _gaps(measured, ("scale-down",), method, other, METRICS["UCaC"])
    theirs = mean(_their_gaps("scale-down", method, other, METRICS["UCaC"]).values())
    text = f"{THEIR_NAME[method]} has less UCaC than {THEIR_NAME[other]}, of BF-nσ's"
    yield judged("Table 1", text, about(theirs), down, paper=percent(theirs))
    for metric, number in METRICS.items():
        text = f"{THEIR_NAME[method]} and {THEIR_NAME[other]} have similar {metric}, within {SIMILAR:g} of BF-nσ's"
        span = _their_gaps("scale-up", method, other, number).values()
        said = f"{min(span):+.2f} to {max(span):+.2f}"
        yield judged("Table 2", text, near(0.0, SIMILAR), _gaps(measured, ("scale-up",), method, other, number), paper=said)


def _gaps(measured: Sequence[Row], cases: Sequence[str], method: str, other: str, number: int) -> dict[str, float]:
    """By test case: what `other` has more than `method`, of BF-nσ's."""
    saved = {}
    for case, k, alpha in product(cases, counts(measured), ALPHAS):
        mine, his = (ratio(measured, case, k, alpha, name) for name in (method, other))
        if mine and his:
            saved[f"{where_of(case)} K={k} {alpha:.1%}"] = his[number] - mine[number]
    return saved


def _their_gaps(case: str, method: str, other: str, number: int) -> dict[str, float]:
    """The same of the paper."""
    found = {}
    for services, alpha in product(SERVICES, ALPHAS):
        mine, his = (paper(case, services, alpha, name) for name in (method, other))
        if mine and his:
            found[f"{where_of(case)} K={services} {alpha:.1%}"] = his[number] - mine[number]
    return found


def _orders(measured: Sequence[Row]) -> Iterator[Claim]:
    """Which method is better, in both tables; and in how many cells the paper's own tables say so."""
    both = ("scale-down", "scale-up")
    for (where, method, other, why), (metric, number) in product(ORDERS, METRICS.items()):
        theirs = [gap >= -ROUNDED for case in both for gap in _their_gaps(case, method, other, number).values()]
        text = f"{THEIR_NAME[method]} has {NO_MORE[metric]} than {THEIR_NAME[other]}, {why}"
        said = f"better; in {sum(theirs)} of its {len(theirs)} cells"
        yield judged(where, text, at_least(0.0), _gaps(measured, both, method, other, number), paper=said)


def _violations(measured: Sequence[Row], case: str, methods: Sequence[str]) -> Claim:
    """The mean over seeds of each cell is below 1 - alpha in most."""
    held = []
    for method, services, alpha in product(methods, counts(measured), ALPHAS):
        found = [float(row["violation"]) for row in by_seed(measured, case, services, alpha, method).values()]
        held += [float(mean(found) <= 100 * (1 - alpha))] if found else []
    text, shown = "violations are below 1 - alpha in most cases", f"in {sum(held):g} of {len(held)}"
    return judged(where_of(case), text, above(MOST_CASES), mean(held) if held else None, paper="most", ours=shown)


# ---- Table 3 -------------------------------------------------------------------------------------------------------------------


def empty_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """CSP-UCaC and CSP-Mac on the empty cluster."""
    yield from absolute_claims(measured)
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
    base = ours.get(BASE)
    for metric, number in METRICS.items():
        mine = {label: ours[label][number] / base[number] for label in TABLE_4 if base and label in ours and label != BASE}
        saved = {label: 1 - value for label, value in mine.items()}
        yield judged("Table 4", f"all others have {LESS[metric]} than BF-3.09σ", above(), saved)
        for label in [name for name in TABLE_4 if name != BASE]:
            his = TABLE_4[label][number] / TABLE_4[BASE][number]
            shown = f"{mine[label]:.3f}" if label in mine else None
            stated, text = near(his, SLACK, neutral=1.0), f"{metric} of {label_of(label)} over BF-3.09σ's"
            yield judged("Table 4", text, stated, mine.get(label), paper=f"{his:.3f}", ours=shown)
    yield from week_levels(ours)
    yield from _best(measured)
    for other in MACHINES_FIRST:
        yield from _over_machines(measured, other)


def _best(measured: Sequence[Row]) -> Iterator[Claim]:
    """BF-nσ with the n that is best, and the three methods beside it."""
    ours, best = totals(measured), best_n(measured)
    shown = None if best is None else f"{best:.2f}"
    yield judged("§6.2", "the best n of BF-nσ", level(BEST_N), best, paper=f"{BEST_N:g}", ours=shown)
    label, theirs = None if best is None else f"bf-{best:.2f}sigma", TABLE_4[f"bf-{BEST_N:g}sigma"]
    for metric, number in METRICS.items():
        known = [method for method in OURS if label and method in ours]
        saved = {THEIR_NAME[method]: 1 - ours[method][number] / ours[str(label)][number] for method in known}
        other = [method for method in OURS if TABLE_4[method][number] >= theirs[number]]
        against = [f"{THEIR_NAME[m]} {TABLE_4[m][number]:,.6g} against {theirs[number]:,.6g}" for m in other]
        said = f"better, but {', '.join(against)}" if against else "better"
        yield judged("§6.2", f"the three methods have {LESS[metric]} than BF-nσ with the best n", above(), saved, paper=said)


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
