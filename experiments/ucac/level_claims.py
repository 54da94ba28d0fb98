"""Numbers of [UCaC] that are not normalised: cores and machines of Tables 3 and 4, and violations of all tables, cell by cell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import mean

from experiments.results import Row
from experiments.ucac.figures import ALPHAS, MACHINES_FIRST, METHODS, SERVICES, TABLE, TABLE_4, THEIR_NAME, Cell, Days
from experiments.ucac.tables import BASE, METRICS, NAME, SLACK, by_seed, paper
from experiments.verdicts import NAMED, Claim, Stated, Verdict, above, judged, level, near, together, verdict

OURS = ("bf-ucac", "bi-level", "csp-ucac")  # the three methods of the paper
ABSOLUTE = 0.05  # of a number of cores or machines
HALF = 0.5  # of 1 - alpha, by which a rate of violations may be off
ZERO = 0.05  # machine-days that round to 0.0
FOOTNOTE = (10, 15)  # K of the rare cases in footnote 1
UNIT = {"UCaC": "cores", "machines": "number"}
VIOLATION = 2  # place in a cell


def summed(where: str, text: str, words: Mapping[str, Verdict], shown: tuple[str, str], rule: str = f"±{SLACK:g}") -> Claim:
    """A claim about several cells that have verdicts of their own."""
    off = [name for name, word in words.items() if word is not Verdict.REPRODUCED]
    named = f"; not at {', '.join(off)}" if 0 < len(off) <= NAMED else ""
    return Claim(
        where=where,
        text=text,
        stated=shown[0],
        ours=shown[1],
        verdict=together(list(words.values())),
        rule=rule,
        cases=f"{len(words) - len(off)} of {len(words)}{named}" if words else "",
    )


def where_of(case: str) -> str:
    """'Table 1'."""
    return NAME[case].partition(",")[0]


def label_of(name: str) -> str:
    """The paper's name of a line of Table 4."""
    return THEIR_NAME.get(name, name.replace("bf-", "BF-").replace("sigma", "σ"))


def mean_of(measured: Sequence[Row], case: str, services: int, alpha: float, method: str, column: str) -> float | None:
    """Of one cell, over seeds."""
    found = [float(row[column]) for row in by_seed(measured, case, services, alpha, method).values()]
    return mean(found) if found else None


# ---- cores and machines --------------------------------------------------------------------------------------------------------


def absolute_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Table 3: cores and machines on the empty cluster, each cell against its own number."""
    for method, (metric, number) in product(("csp-ucac", *MACHINES_FIRST), METRICS.items()):
        words, mine, theirs = {}, [], []
        for name, ours, his in _cells(measured, "empty", method, ("ucac", "machines")[number]):
            words[name] = verdict([ours], level(his[number], tolerance=ABSOLUTE))
            mine.append(ours)
        theirs = [cell[number] for key, both in TABLE["empty"].items() if key[1] == method for cell in both]
        shown = _span(theirs, ",.0f"), _span(mine, ",.0f")
        yield summed(where_of("empty"), f"{metric} of {THEIR_NAME[method]}, {UNIT[metric]}", words, shown, f"±{ABSOLUTE:.0%}")


def week_levels(ours: Mapping[str, Days]) -> Iterator[Claim]:
    """Table 4: cores, machines and violations of each line."""
    for label, (metric, number) in product(TABLE_4, METRICS.items()):
        his, mine = TABLE_4[label][number], ours[label][number] if label in ours else None
        text, shown = f"{metric} of {label_of(label)}, {UNIT[metric]}", None if mine is None else f"{mine:,.1f}"
        yield judged("Table 4", text, level(his, tolerance=ABSOLUTE), mine, paper=f"{his:,.1f}", ours=shown)
    for label, days in TABLE_4.items():
        found, rule = ours[label].violations if label in ours else None, _violations(days.violations)
        text, shown = f"violations of {label_of(label)}, machine-days", None if found is None else f"{found:.1f}"
        yield judged("Table 4", text, rule, found, paper=f"{days.violations:.1f}", ours=shown)


def _violations(stated: float) -> Stated:
    return level(stated) if stated else near(stated, ZERO)


# ---- violations ----------------------------------------------------------------------------------------------------------------


def violation_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Tables 1 to 3, each cell against its own number; that of BF-nσ below; footnote 1."""
    for case in NAME:
        for method in (method for method in METHODS if (SERVICES[0], method) in TABLE[case]):
            yield _rates(measured, case, method)
    for case in ("scale-down", "scale-up"):
        text = "violations of the three methods are more than those of BF-nσ, over 1 - alpha"
        more = dict(_more(measured, case))
        shown = f"{min(more.values()):+.2f} to {max(more.values()):+.2f}" if more else None
        yield judged(where_of(case), text, above(), more, ours=shown)
    yield from _footnote(measured)


def _rates(measured: Sequence[Row], case: str, method: str) -> Claim:
    words, spans = {}, [_by_alpha(lambda a: [c[VIOLATION] for k in SERVICES if (c := paper(case, k, a, method))])]
    found = {name: (ours, his) for name, ours, his in _cells(measured, case, method, "violation")}
    for (name, (ours, his)), alpha in ((item, a) for a in ALPHAS for item in found.items() if item[0].endswith(f"{a:.1%}")):
        words[name] = verdict([ours], near(his[VIOLATION], HALF * 100 * (1 - alpha)))
    spans.append(_by_alpha(lambda a: [ours for name, (ours, _) in found.items() if name.endswith(f"{a:.1%}")]))
    text = f"violations of {THEIR_NAME[method]}, %"
    return summed(where_of(case), text, words, (spans[0], spans[1]), f"±{HALF:g} (1 - alpha)")


def _cells(measured: Sequence[Row], case: str, method: str, column: str) -> Iterator[tuple[str, float, Cell]]:
    """Name, ours and the paper's of each cell that both have."""
    for services, alpha in product(SERVICES, ALPHAS):
        ours, theirs = mean_of(measured, case, services, alpha, method, column), paper(case, services, alpha, method)
        if ours is not None and theirs:
            yield f"K={services} {alpha:.1%}", ours, theirs


def _more(measured: Sequence[Row], case: str) -> Iterator[tuple[str, float]]:
    """By method and cell: violations above those of BF-nσ, over 1 - alpha."""
    for method, services, alpha in product(OURS, SERVICES, ALPHAS):
        mine, base = (mean_of(measured, case, services, alpha, name, "violation") for name in (method, BASE))
        if mine is not None and base is not None:
            yield f"{THEIR_NAME[method]} K={services} {alpha:.1%}", (mine - base) / (100 * (1 - alpha))


def _footnote(measured: Sequence[Row]) -> Iterator[Claim]:
    """Footnote 1: where 1 - alpha is exceeded, and that truncation is why."""
    theirs, mine, raised = [], [], {}
    for case, method, services, alpha in product(("scale-down", "scale-up"), OURS, SERVICES, ALPHAS):
        ours, cut_off = (mean_of(measured, case, services, alpha, method, name) for name in ("violation", "untruncated"))
        his = paper(case, services, alpha, method)
        if his and services in FOOTNOTE:
            theirs.append(his.violation > 100 * (1 - alpha))
        if ours is not None and services in FOOTNOTE:
            mine.append(ours > 100 * (1 - alpha))
        if ours is not None and cut_off:
            raised[f"{case} {method} K={services} {alpha:.1%}"] = ours / cut_off - 1
    text = "violations exceed 1 - alpha in rare cases with K = 10 and K = 15"
    said, shown = f"{sum(theirs)} of {len(theirs)}", f"{sum(mine)} of {len(mine)}"
    yield judged("Footnote 1", text, above(), mean(mine) if mine else None, paper=said, ours=shown)
    yield judged("Footnote 1", "truncation to (0, limit) raises the rate of violations", above(), raised, paper="minor")


def _by_alpha(numbers: Callable[[float], Sequence[float]]) -> str:
    """'0.02 to 0.07, 0.26 to 0.80': at 99.9 % and at 99 %."""
    found = [_span(numbers(alpha), ".2f") for alpha in ALPHAS]
    return "-" if set(found) == {"-"} else ", ".join(found)


def _span(numbers: Sequence[float], form: str) -> str:
    return f"{min(numbers):{form}} to {max(numbers):{form}}" if numbers else "-"
