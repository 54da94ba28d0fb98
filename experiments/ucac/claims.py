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
from experiments.ucac.figures import ALPHAS, BEST_N, SECONDS, SERVICES, TABLE, TABLE_4, THEIR_NAME, Cell
from experiments.ucac.tables import METRICS, NAME, SLACK, by_seed, counts, judge, means, methods_of, paper, ratio
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
SIMILAR = 0.02  # of a normalised number
MOST_CASES = 0.5  # "in most cases"
PAGE = "verbs/ucac.md"
LESS = {"UCaC": "less UCaC", "machines": "fewer machines"}


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim that the CSV files of a folder have the rows for; run times of best fit are those of the benchmarks."""
    cells, week, columns = (rows(folder / f"{name}.csv") for name in ("cells", "week", "columns"))
    benchmark = [] if quick else rows(ROOT / "benchmarks" / "pack.csv")
    drawn = f"drawn from Table 5, {count(len({row['seed'] for row in cells}), 'seed')}"
    made = f"generated week, {count(len({row['seed'] for row in week}), 'seed')}"
    found = [replace(claim, scale=drawn) for claim in (*table_claims(cells), *empty_claims(cells)) if cells]
    found += [replace(claim, scale=made) for claim in week_claims(week) if week]
    found += [replace(claim, scale="one core, not 8; HiGHS, not Gurobi") for claim in time_claims(columns, benchmark)]
    return [replace(claim, page=PAGE) for claim in found]


# ---- Tables 1 and 2 ------------------------------------------------------------------------------------------------------------


def table_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Scale-down and scale-up."""
    for case, method, metric in product(("scale-down", "scale-up"), methods_of(measured)[1:], METRICS):
        yield _cells(measured, case, method, metric)
    for case, method in product(("scale-down", "scale-up"), OURS):
        for metric, number in METRICS.items():
            saved = {name: 1 - ours[number] for name, ours, _ in _pairs(measured, case, method)}
            text = f"{THEIR_NAME[method]} has {LESS[metric]} than BF-nσ in every test case"
            yield judged(_where(case), text, above(), saved)
    yield from _against_machines(measured)
    yield from _violations(measured)


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


def _against_machines(measured: Sequence[Row]) -> Iterator[Claim]:
    """CSP-UCaC and CSP-Mac in both cases."""
    for case in ("scale-down", "scale-up"):
        both = {
            (services, alpha): (
                ratio(measured, case, services, alpha, "csp-ucac"),
                ratio(measured, case, services, alpha, "csp-machines"),
            )
            for services, alpha in product(counts(measured), ALPHAS)
        }
        saved = {f"K={k} {a:.1%}": other.ucac - mine.ucac for (k, a), (mine, other) in both.items() if mine and other}
        if case == "scale-down":
            theirs = [_their_gap(case, services, alpha) for services, alpha in product(SERVICES, ALPHAS)]
            text, stated = "CSP-UCaC has less UCaC than CSP-Mac, of BF-nσ's", about(mean(theirs))
            yield judged("Table 1", text, stated, saved, paper=percent(mean(theirs)))
        else:
            text = f"CSP-UCaC and CSP-Mac have similar UCaC, within {SIMILAR:g} of BF-nσ's"
            yield judged("Table 2", text, near(0.0, SIMILAR), saved, paper="similar")


def _their_gap(case: str, services: int, alpha: float) -> float:
    mine, other = (paper(case, services, alpha, method) for method in ("csp-ucac", "csp-machines"))
    assert mine and other
    return other.ucac - mine.ucac


def _violations(measured: Sequence[Row]) -> Iterator[Claim]:
    """The three methods: the mean over seeds of each cell is below 1 - alpha in most."""
    for case in ("scale-down", "scale-up"):
        held = []
        for method, services, alpha in product(OURS, counts(measured), ALPHAS):
            found = [float(row["violation"]) for row in by_seed(measured, case, services, alpha, method).values()]
            held += [float(mean(found) <= 100 * (1 - alpha))] if found else []
        if held:
            text, shown = "violations are below 1 - alpha in most cases", f"in {sum(held):g} of {len(held)}"
            yield judged(_where(case), text, above(MOST_CASES), mean(held), paper="most", ours=shown)


# ---- Table 3 -------------------------------------------------------------------------------------------------------------------


def empty_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """CSP-UCaC and CSP-Mac on the empty cluster."""
    less, more, excess = {}, {}, []
    for services, alpha in product(counts(measured), ALPHAS):
        mine, other = (means(measured, services, alpha, method) for method in ("csp-ucac", "csp-machines"))
        theirs = [paper("empty", services, alpha, method) for method in ("csp-ucac", "csp-machines")]
        if mine and other:
            less[f"K={services} {alpha:.1%}"] = 1 - mine.ucac / other.ucac
            more[f"K={services} {alpha:.1%}"] = mine.machines / other.machines - 1
        excess += [theirs[0].machines / theirs[1].machines - 1] if theirs[0] and theirs[1] else []
    shown = f"{mean(less.values()):.3%} less" if less else None
    yield judged("Table 3", "CSP-UCaC has less UCaC than CSP-Mac in every test case", above(), less, ours=shown)
    text, stated = f"CSP-UCaC has the same number of machines or slightly more, at most {SIMILAR:.0%}", at_most(SIMILAR)
    shown = f"{min(more.values()):+.2%} to {max(more.values()):+.2%}" if more else None
    paper_span = f"{min(excess):+.2%} to {max(excess):+.2%}" if excess else "slightly more"
    yield judged("Table 3", text, stated, more, paper=paper_span, ours=shown)


# ---- Table 4 -------------------------------------------------------------------------------------------------------------------


def week_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Seven days."""
    ours, theirs = totals(measured), TABLE_4
    both = [label for label in theirs if label in ours and label != BASE and BASE in ours]
    for metric, number in METRICS.items() if both else ():
        saved = {label: 1 - ours[label][number] / ours[BASE][number] for label in both}
        yield judged("Table 4", f"all others have {LESS[metric]} than BF-3.09σ", above(), saved)
        mine = {label: ours[label][number] / ours[BASE][number] for label in both}
        his = {label: theirs[label][number] / theirs[BASE][number] for label in both}
        for label in both:
            name, shown = THEIR_NAME.get(label, label.replace("bf-", "BF-").replace("sigma", "σ")), f"{mine[label]:.3f}"
            stated = near(his[label], SLACK, neutral=1.0)
            text = f"{metric} of {name} over BF-3.09σ's"
            yield judged("Table 4", text, stated, mine[label], paper=f"{his[label]:.3f}", ours=shown)
    for label in [name for name in (*OURS, "csp-machines") if name in ours]:
        text, found = f"violations of {THEIR_NAME[label]}, machine-days", ours[label].violations
        paper_count = theirs[label].violations
        yield judged("Table 4", text, level(paper_count), found, paper=f"{paper_count:g}", ours=f"{found:.1f}")
    yield from _best(measured)
    yield from _over_machines(measured)


def _best(measured: Sequence[Row]) -> Iterator[Claim]:
    ours, best = totals(measured), best_n(measured)
    if best is None:
        return
    yield judged("§6.2", "the best n of BF-nσ", level(BEST_N), best, paper=f"{BEST_N:g}", ours=f"{best:.2f}")
    label = f"bf-{best:.2f}sigma"
    for metric, number in METRICS.items():
        saved = {THEIR_NAME[method]: 1 - ours[method][number] / ours[label][number] for method in OURS if method in ours}
        yield judged("§6.2", f"the three methods have {LESS[metric]} than BF-nσ with the best n", above(), saved)


def _over_machines(measured: Sequence[Row]) -> Iterator[Claim]:
    """What the three methods save of what CSP-Mac needs."""
    ours = totals(measured)
    if "csp-machines" not in ours:
        return
    for method, (metric, number) in product([name for name in OURS if name in ours], METRICS.items()):
        mine, his = ours[method][number] / ours["csp-machines"][number], TABLE_4[method][number] / TABLE_4["csp-machines"][number]
        text = f"{THEIR_NAME[method]} has {LESS[metric]} than CSP-Mac"
        yield judged("§6.2", text, about(1 - his), 1 - mine, paper=f"{1 - his:.2%}", ours=f"{1 - mine:.2%}")


# ---- run times -----------------------------------------------------------------------------------------------------------------


def time_claims(columns: Sequence[Row], benchmark: Sequence[Row]) -> Iterator[Claim]:
    """§6.1.4: a time is a limit. Being faster is no contradiction, so these are one-sided."""
    newest = {row["name"]: row for row in benchmark}
    for method in ("bf-nsigma", "bf-ucac", "bi-level"):
        found = {name: float(row["seconds"]) for name, row in newest.items() if name.startswith(f"{method}: 14,213")}
        if found:
            limit, text = SECONDS[method], f"{THEIR_NAME[method]} packs 14,213 containers in that time"
            yield judged("§6.1.4", text, at_most(limit), found, paper=f"{limit:g} s", ours=f"{max(found.values()):.3f} s at most")
    twenty = {
        f"{row['seed']} {row['goal']}": float(row["seconds"])
        for row in columns
        if (row["services"], row["alpha"]) == ("20", "0.999")
    }
    if twenty:
        limit, text = SECONDS["pattern generation"], "pattern generation to strict convergence, K = 20, 99.9 %"
        shown = f"{max(twenty.values()):.2f} s at most"
        yield judged("§6.1.4", text, at_most(limit), twenty, paper=f"{limit:,.0f} s", ours=shown)
