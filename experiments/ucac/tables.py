"""Tables 1, 2 and 3 of docs/verbs/ucac.md, from the rows of cells.csv: our numbers beside the paper's, and a verdict on each."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, inf, isnan, nan, sqrt
from statistics import mean
from typing import NamedTuple

from experiments.results import Row, measured_on, table
from experiments.ucac.cells import DRAWS
from experiments.ucac.figures import ALPHAS, MACHINES_FIRST, METHODS, SERVICES, TABLE, THEIR_NAME, Cell
from experiments.verdicts import Verdict, near, verdict, weakest, yes

NAME = {"scale-down": "Table 1, scale-down", "scale-up": "Table 2, scale-up", "empty": "Table 3, empty"}
BASE = "bf-nsigma"
SLACK = 0.02  # by which a normalised number may be off, on both sides
SIMILAR = 0.02  # of a normalised number
METRICS = {"UCaC": 0, "machines": 1}  # place in a cell
ROUNDING = 1e-9
GAP, SECONDS, MACHINES = 2e-4, 10.0, 2.0  # the targets of csp-ucac and csp-machines at K = 20


def table_lines(measured: Sequence[Row]) -> list[str]:
    """All three tables and what follows from them; nothing if nothing was measured."""
    if not measured:
        return []
    lines = []
    for case, alpha in product(("scale-down", "scale-up"), ALPHAS):
        lines += [f"**{NAME[case]}, {alpha:.1%}**", "", *normalised(measured, case, alpha), ""]
    for alpha in ALPHAS:
        lines += [f"**{NAME['empty']}, {alpha:.1%}**", "", *absolute(measured, alpha), ""]
    lines += [*orders(measured), ""]
    return [*lines, *claims(measured), "", f"Measured on {measured_on(measured)}."]


# ---- Tables 1 and 2 ------------------------------------------------------------------------------------------------------------


def normalised(measured: Sequence[Row], case: str, alpha: float) -> list[str]:
    """One line per number of services and method at one confidence; ours (the paper's)."""
    body = []
    for services, method in product(counts(measured), methods_of(measured)):
        cells = _beside(measured, case, services, alpha, method)
        body.append([str(services), f"`{method}` ({THEIR_NAME[method]})", *cells])
    return table(["K", "method", "UCaC", "machines", "violation %", "verdict"], body)


def _beside(measured: Sequence[Row], case: str, services: int, alpha: float, method: str) -> list[str]:
    ours, theirs = ratio(measured, case, services, alpha, method), paper(case, services, alpha, method)
    if ours is None:
        return ["-"] * 4
    if theirs is None:
        return [f"{ours.ucac:.3f}", f"{ours.machines:.3f}", f"{ours.violation:.3f}", "-"]
    both = [f"{mine:.3f} ({his:.2f})" for mine, his in zip(ours[:2], theirs[:2], strict=True)]
    word = verdict_words(ours, theirs, bound_ratio(measured, case, services, alpha))
    return [*both, f"{ours.violation:.3f} ({theirs.violation:.2f})", word]


def verdict_words(ours: Cell, theirs: Cell, least: Cell | None = None) -> str:
    """The verdict on both normalised numbers, and what is off. `least`: what no packing of our instances can be below."""
    verdicts = {name: judge(ours[number], theirs[number]) for name, number in METRICS.items()}
    best = {name: f", at best {least[number] - theirs[number]:+.3f}" if least else "" for name, number in METRICS.items()}
    off = [
        f"{name} {ours[number] - theirs[number]:+.3f}{best[name] if ours[number] > theirs[number] else ''}"
        for name, number in METRICS.items()
        if verdicts[name] is not Verdict.REPRODUCED
    ]
    return ": ".join(filter(None, (weakest(verdicts.values()), "; ".join(off))))


def judge(ours: float, theirs: float) -> Verdict:
    """A normalised number beside the paper's, on both sides; 1 is no difference from BF-nσ."""
    return verdict([ours], near(theirs, SLACK, neutral=1.0))


def bound_ratio(measured: Sequence[Row], case: str, services: int, alpha: float) -> Cell | None:
    """The proven bounds of UCaC and machines over what bf-nsigma has, the mean over seeds that have all; None if none has."""
    base = by_seed(measured, case, services, alpha, BASE)
    bounds = [by_seed(measured, case, services, alpha, method) for method in ("csp-ucac", "csp-machines")]
    seeds = [seed for seed in base if all(seed in bound and bound[seed]["bound"] for bound in bounds)]
    if not seeds:
        return None
    pairs = zip(bounds, ("ucac", "machines"), strict=True)
    return Cell(*(mean(float(bound[seed]["bound"]) / float(base[seed][name]) for seed in seeds) for bound, name in pairs), 0.0)


def paper(case: str, services: int, alpha: float, method: str) -> Cell | None:
    """What the paper reports."""
    both = TABLE[case].get((services, method))
    return both[ALPHAS.index(alpha)] if both else None


def ratio(measured: Sequence[Row], case: str, services: int, alpha: float, method: str) -> Cell | None:
    """UCaC and machines over those of bf-nsigma, the mean over the seeds that have both; violations in percent."""
    ours, base = (by_seed(measured, case, services, alpha, name) for name in (method, BASE))
    seeds = sorted(ours.keys() & base.keys())
    if not seeds:
        return None
    parts = ("ucac", "machines")
    over = [mean(float(ours[seed][name]) / float(base[seed][name]) for seed in seeds) for name in parts]
    return Cell(*over, mean(float(ours[seed]["violation"]) for seed in seeds))


def by_seed(measured: Sequence[Row], case: str, services: int, alpha: float, method: str) -> dict[str, Row]:
    """The rows of one cell of a table."""
    key = case, str(services), f"{alpha:g}", method
    return {row["seed"]: row for row in measured if (row["case"], row["services"], row["alpha"], row["method"]) == key}


def methods_of(measured: Sequence[Row]) -> list[str]:
    """The methods that were measured, in the order of the tables."""
    return [method for method in METHODS if any(row["method"] == method for row in measured)]


def counts(measured: Sequence[Row]) -> list[int]:
    """The numbers of services that were measured."""
    return sorted({int(row["services"]) for row in measured})


# ---- Table 3 -------------------------------------------------------------------------------------------------------------------


def absolute(measured: Sequence[Row], alpha: float) -> list[str]:
    """Cores and machines on the empty cluster at one confidence; ours (the paper's)."""
    body = []
    for services, method in product(counts(measured), METHODS):
        cell = means(measured, services, alpha, method)
        if cell is not None:
            body.append([str(services), f"`{method}`", *_raw(cell, services, alpha, method)])
    return table(["K", "method", "UCaC", "machines", "violation %"], body)


def orders(measured: Sequence[Row]) -> list[str]:
    """Instances differ from the paper's: what counts in Table 3 is how `csp-ucac` and `csp-machines` compare."""
    return [f"- Table 3, K = {services}: `csp-ucac` {_order(measured, services)}." for services in counts(measured)]


def means(measured: Sequence[Row], services: int, alpha: float, method: str) -> Cell | None:
    """Of the empty cluster: the mean over seeds."""
    rows = by_seed(measured, "empty", services, alpha, method).values()
    if not rows:
        return None
    return Cell(*(mean(float(row[name]) for row in rows) for name in ("ucac", "machines", "violation")))


def _raw(cell: Cell, services: int, alpha: float, method: str) -> list[str]:
    theirs = paper("empty", services, alpha, method)
    ours = [f"{cell.ucac:,.1f}", f"{cell.machines:,.1f}", f"{cell.violation:.3f}"]
    if theirs is None:
        return ours
    return [
        f"{a} ({b})"
        for a, b in zip(ours, (f"{theirs.ucac:,.0f}", f"{theirs.machines:,.0f}", f"{theirs.violation:.1f}"), strict=True)
    ]


def _order(measured: Sequence[Row], services: int) -> str:
    """How much less UCaC, and how many more machines."""
    pairs = [(means(measured, services, alpha, "csp-ucac"), means(measured, services, alpha, "csp-machines")) for alpha in ALPHAS]
    both = [(a, b) for a, b in pairs if a and b]
    less = max((a.ucac / b.ucac - 1 for a, b in both), default=0.0)
    more = max((a.machines / b.machines - 1 for a, b in both), default=0.0)
    theirs = max(_their_excess(services, alpha) for alpha in ALPHAS)
    return f"has {less:+.3%} UCaC and {more:+.2%} machines (paper {theirs:+.2%} machines)"


def _their_excess(services: int, alpha: float) -> float:
    ours, other = (paper("empty", services, alpha, method) for method in ("csp-ucac", "csp-machines"))
    return ours.machines / other.machines - 1 if ours and other else 0.0


# ---- what follows --------------------------------------------------------------------------------------------------------------


def claims(measured: Sequence[Row]) -> Iterator[str]:
    """What was claimed or aimed at, and whether it holds."""
    bad = [row for row in measured if row["left_out"] != "0" or row["rules_violated"] != "0"]
    detail = f"{len(measured)} packings, {len(bad)} at fault"
    yield f"- Is everything placed, and is no chance constraint violated? {yes(not bad)}: {detail}."
    yield from _cells_claim(measured)
    yield from _patterns(measured)
    yield from _gaps(measured)
    yield from _overflows(measured)


def _cells_claim(measured: Sequence[Row]) -> Iterator[str]:
    """How many cells have which verdict, and how many of those above the paper's could not be otherwise, as is proven."""
    words, high, unavoidable = [], 0, 0
    for case, services, alpha, method in product(("scale-down", "scale-up"), SERVICES, ALPHAS, METHODS):
        ours, theirs = ratio(measured, case, services, alpha, method), paper(case, services, alpha, method)
        if ours and theirs:
            words.append(weakest(judge(ours[number], theirs[number]) for number in METRICS.values()))
            least = bound_ratio(measured, case, services, alpha)
            high += _above(ours, theirs)
            unavoidable += _above(ours, theirs) and least is not None and _above(least, theirs)
    if words:
        counted = ", ".join(f"{words.count(word)} {word}" for word in Verdict if word in words)
        yield f"- Tables 1 and 2, {len(words)} cells of two numbers each: {counted}."
        if high:
            detail = f"{unavoidable} would be so with any packing: the proven bound is above the paper's, too"
            yield f"- Of the {high} with a number that is above the paper's by more than {SLACK:g}, {detail}."


def _above(ours: Cell, theirs: Cell) -> bool:
    return any(ours[number] > theirs[number] + SLACK + ROUNDING for number in METRICS.values())


class MacUcac(NamedTuple):
    """CSP-Mac in scale-down at one confidence: UCaC over that of bf-nsigma."""

    theirs: tuple[float, float]  # the paper's, least and most
    most: float  # of any placement on as few machines as those of csp-machines and csp-mac; nan if nothing was measured
    held: tuple[float, float] | None  # of the patterns of csp-mac with what is beyond the demand, least and most


def mac_ucac(measured: Sequence[Row], alpha: float) -> MacUcac:
    """Can a placement have the UCaC that the paper gives CSP-Mac, or only patterns?"""
    base = {_key(row): float(row["ucac"]) for row in measured if (row["case"], row["method"]) == ("scale-down", BASE)}
    ours = [row for row in measured if row["case"] == "scale-down" and row["method"] in MACHINES_FIRST]
    pairs = [(row, base[_key(row)]) for row in ours if row["alpha"] == f"{alpha:g}" and _key(row) in base]
    even, held = ([float(row[name]) / by for row, by in pairs if row[name]] for name in ("even_ucac", "pattern_ucac"))
    theirs = [cell.ucac for services in SERVICES if (cell := paper("scale-down", services, alpha, "csp-mac"))]
    return MacUcac((min(theirs), max(theirs)), max(even, default=nan), (min(held), max(held)) if held else None)


def _patterns(measured: Sequence[Row]) -> Iterator[str]:
    """Does the paper's UCaC of CSP-Mac count what patterns hold beyond the demand? No placement has as much."""
    for alpha in ALPHAS:
        found = mac_ucac(measured, alpha)
        if not isnan(found.most):
            yield (
                f"- Scale-down, {alpha:.1%}, can any placement on as few machines as those of `csp-machines` have the UCaC of "
                f"the paper's CSP-Mac, {found.theirs[0]:.2f} to {found.theirs[1]:.2f} of `bf-nsigma`'s? "
                f"{yes(found.most >= found.theirs[0])}: none has more than {found.most:.3f}."
            )
        if found.held:
            yield (
                f"- Scale-down, {alpha:.1%}: with what the patterns of `csp-mac` hold beyond the demand it is "
                f"{found.held[0]:.3f} to {found.held[1]:.3f}."
            )


def _key(row: Row) -> tuple[str, str, str]:
    return row["services"], row["alpha"], row["seed"]


def _gaps(measured: Sequence[Row]) -> Iterator[str]:
    largest = str(max(counts(measured)))
    ours = [row for row in measured if row["method"] == "csp-ucac" and row["services"] == largest]
    if ours:
        gap, slowest = max(float(row["gap"] or "inf") for row in ours), max(float(row["seconds"]) for row in ours)
        good = yes(gap <= GAP and slowest < SECONDS)
        detail = f"at most {gap:.4%} and {slowest:.1f} s over {len(ours)} packings"
        yield f"- K = {largest}, `csp-ucac` within {GAP:.2%} of the UCaC bound in under {SECONDS:g} s? {good}: {detail}."
    fewest = [row for row in measured if (row["method"], row["services"], row["case"]) == ("csp-machines", largest, "empty")]
    if fewest:
        above = [float(row["machines"]) - ceil(float(row["bound"]) - 1e-6) if row["bound"] else inf for row in fewest]
        yield (
            f"- K = {largest}, empty, `csp-machines` within {MACHINES:g} machines of its bound? {yes(max(above) <= MACHINES)}: "
            f"at most {max(above):g} above over {len(fewest)} packings."
        )


def _overflows(measured: Sequence[Row]) -> Iterator[str]:
    """Without truncation, the mean over machines may pass 1 - alpha by sampling error only."""
    for alpha in ALPHAS:
        rows = [row for row in measured if row["alpha"] == f"{alpha:g}"]
        if rows:
            allowed, cut = 1 - alpha, sum(float(row["violation"]) / 100 > 1 - alpha for row in rows)
            above = [row for row in rows if float(row["untruncated"]) / 100 > allowed + _error(row, allowed)]
            most = max(float(row["untruncated"]) for row in rows)
            yield (
                f"- {alpha:.1%}, does usage that is not truncated overflow at most as often as agreed? {yes(not above)}: "
                f"at most {most:.3f} % of (machine, draw), {100 * allowed:.1f} % allowed, {len(above)} of {len(rows)} packings "
                f"above by more than three standard errors. Truncated to (0, limit) as in the paper, {cut} of {len(rows)} are "
                f"above."
            )


def _error(row: Row, share: float) -> float:
    return 3 * sqrt(share * (1 - share) / (DRAWS * float(row["machines"])))
