"""What §VI-B of [Online clusters] says of streams beside what we measured.

A case is a setting: its value is the mean over seeds. Two methods are compared over the seeds that both have.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from statistics import mean

from bayplan.words import count
from experiments.online_clusters.measured import Streams
from experiments.online_clusters.one_shot_claims import Means
from experiments.online_clusters.settings import (
    ALPHA,
    BY_PRICE,
    FREE,
    LIMITED,
    LISTING,
    PAPER,
    RIVALS,
    SAMPLING,
    Scope,
    Setting,
)
from experiments.verdicts import TOLERANCE, Claim, above, at_least, at_most, below, judged

STEADY = 5  # zones from which on the ratio "remains steady"
PRICED = ("exact", *SAMPLING, "greedy")  # A_online with each of its one-shot methods, placed where it fits
FOLLOWED = ("exact", "greedy")  # whose curves are judged: they have all seeds everywhere
AS_GOOD = 0.001  # means of ratios that differ by less are alike


def named(scope: Scope, data: str, inside: str) -> dict[str, Setting]:
    """'V=3' -> the setting, for every figure."""
    return {f"{letter}={value_of(s, letter)}": s for letter, some in scope.figures(data, inside).items() for s in some}


def value_of(setting: Setting, letter: str) -> str:
    """What a letter is there."""
    return str({"V": setting.members, "S": setting.zones, "U": setting.ratio, "I": setting.requests}[letter])


def by_requests(settings: Sequence[Setting]) -> dict[str, Setting]:
    """'I=50' -> the setting."""
    return {f"I={setting.requests}": setting for setting in settings}


def online_claims(streams: Streams, data: str, inside: str, scope: Scope) -> Iterator[Claim]:
    """Figures 6 to 8: A_online against the others, at every setting, and its ratio along each letter."""
    settings = named(scope, data, inside)
    for method in (*PRICED, *BY_PRICE):
        if inside == LIMITED and method in SAMPLING:
            continue
        for rival in RIVALS:
            cases = _known({name: streams.ahead(s, method, rival) for name, s in settings.items()})
            yield judged("Figures 6 to 8", f"A_online with `{method}` is better than `{rival}`", above(), cases)
    cases = _known({name: _best_with_exact(streams, s) for name, s in settings.items()})
    yield judged("Figures 6 to 8", "A_online is best with `exact`, or equal", at_least(0.0), cases)
    for method in FOLLOWED:
        yield from _curves(streams, settings, method)
        text = f"the ratio of `{method}` is below its bound alpha ln(lambda)"
        share = {name: ratio / worst_case(settings[name]) for name, ratio in _of_letter(streams, settings, method, "UI").items()}
        yield judged("Figures 7, 8", text, below(1.0), share, paper="below 1", ours=_mean(share, ".2f", " of it"))


def worst_case(setting: Setting) -> float:
    """alpha ln(lambda), Theorem 5."""
    return ALPHA * log(2 * (ALPHA * setting.ratio + 1))


def _best_with_exact(streams: Streams, setting: Setting) -> float | None:
    """By how much the best of the other one-shot methods is above `exact`; each over the seeds that it has."""
    found = [streams.ahead(setting, "exact", other) for other in PRICED if other != "exact"]
    return min((gain for gain in found if gain is not None), default=None)


def _curves(streams: Streams, settings: Mapping[str, Setting], method: str) -> Iterator[Claim]:
    """How the ratio changes with each letter."""
    for figure, letter, stated, word in (
        ("Figure 6", "V", above(), "grows"),
        ("Figure 6", "S", below(), "falls"),
        ("Figure 7", "U", above(), "grows"),
    ):
        curve = list(_of_letter(streams, settings, method, letter).values())
        change = curve[-1] / curve[0] - 1 if len(curve) > 1 else None
        shown = f"{curve[0]:.2f} to {curve[-1]:.2f}" if len(curve) > 1 else None
        yield judged(figure, f"the ratio {word} with {letter} (`{method}`)", stated, change, ours=shown)
    by_zones = _of_letter(streams, settings, method, "S")
    steady = {name: ratio for name, ratio in by_zones.items() if int(name[2:]) >= STEADY}
    for figure, text, some in (
        ("Figure 6", f"the ratio is steady from S = {STEADY} on (`{method}`, within {TOLERANCE:.0%})", steady),
        ("Figure 8", f"I has no major effect (`{method}`, within {TOLERANCE:.0%})", _of_letter(streams, settings, method, "I")),
    ):
        apart = max(some.values()) / min(some.values()) - 1 if len(some) > 1 else None
        yield judged(figure, text, at_most(TOLERANCE), apart, ours=None if apart is None else f"apart by {100 * apart:.1f} %")


def _of_letter(streams: Streams, settings: Mapping[str, Setting], method: str, letters: str) -> dict[str, float]:
    """'S=3' -> mean ratio, for the settings of some letters."""
    return _known({name: streams.ratio(s, method) for name, s in settings.items() if name[0] in letters})


def loss_claims(streams: Streams, one_shot: Means, data: str, inside: str, scope: Scope) -> Iterator[Claim]:
    """Figures 3 and 4 beside 6: how much more A_online loses than its one-shot method does."""
    for method in ("greedy", *(() if inside == LIMITED else SAMPLING)):
        cases = {}
        for members in scope.online_members:
            ratio = streams.ratio(scope.figures(data, inside)["V"][list(scope.online_members).index(members)], method)
            alone = one_shot.get((members, scope.base.zones, 2), {}).get(method)
            if ratio is not None and alone is not None:
                cases[f"V={members}"] = ratio / alone - 1
        text = f"A_online with `{method}` loses little beside the one-shot ratio (within {TOLERANCE:.0%})"
        yield judged("Figures 3, 4, 6", text, at_most(TOLERANCE), cases, paper="small")


def counted_claims(streams: Streams, data: str, inside: str, scope: Scope) -> Iterator[Claim]:
    """Figure 9: the value by the number of requests."""
    wide = by_requests(scope.figures(data, inside)["I"])
    for method in FOLLOWED:
        curve = list(_known({name: streams.mean(s, method, "value") for name, s in wide.items()}).values())
        yield judged("Figure 9", f"the value grows with I (`{method}`)", above(), curve[-1] / curve[0] - 1 if curve[1:] else None)
    if inside == LIMITED:
        return
    small = by_requests(scope.small(data, inside))
    more = _known({name: streams.more(s, "sampling 0.6", "greedy", "value") for name, s in small.items()})
    yield judged("Figure 9", "`sampling 0.6` accepts more value than `greedy` (V = 3)", above(), more)


def winner_claims(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figure 10: the share of winners."""
    for method in FOLLOWED:
        share = {
            capacity: _known({f"I={s.requests}": streams.winners(s, method) for s in scope.counted(capacity)})
            for capacity in scope.capacities
        }
        for capacity, curve in share.items():
            first, last = (*curve.values(),)[:1], (*curve.values(),)[1:][-1:]
            change = last[0] / first[0] - 1 if last else None
            text = f"the share of winners falls with I (`{method}`, C = {capacity})"
            yield judged("Figure 10", text, below(), change, ours=f"{first[0]:.1%} to {last[0]:.1%}" if last else None)
            number = [share * int(name[2:]) for name, share in curve.items()]
            apart = max(number) / min(number) - 1 if len(number) > 1 else None
            text = f"the number of winners is steady (`{method}`, C = {capacity}, within {TOLERANCE:.0%})"
            shown = f"{number[0]:.0f} to {number[-1]:.0f}" if number else None
            yield judged("Figure 10", text, at_most(TOLERANCE), apart, paper="relatively steady", ours=shown)
        few, *_, many = share.values()
        more = {name: many[name] / value - 1 for name, value in few.items() if name in many and value}
        yield judged("Figure 10", f"more capacity gives a higher share of winners (`{method}`)", above(), more)


def time_claims(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figure 11 and Theorem 4, with five members; seconds of the CPU."""
    settings = by_requests(scope.clocked())
    for fast, slow in (("greedy", "sampling 1.0"), ("sampling 1.0", LISTING), ("greedy", LISTING)):
        faster = _known({name: streams.more(s, _clocked(slow), _clocked(fast), "cpu") for name, s in settings.items()})
        shown = f"{mean(faster.values()) + 1:.3g} times as fast" if faster else None
        yield judged("Figure 11", f"`{fast}` is faster than `{slow}` (V = 5)", above(), faster, ours=shown)
    slower = _known({name: streams.more(s, _clocked("sampling 1.0"), _clocked("greedy"), "cpu") for name, s in settings.items()})
    text = f"`sampling 1.0` is only slightly slower than `greedy` (V = 5, within {TOLERANCE:.0%})"
    yield judged("Figure 11", text, at_most(TOLERANCE), slower, paper="slightly", ours=_mean(slower, ",.0f", " times slower"))
    for method in ("exact", "sampling 1.0", "greedy"):
        curve = _known({name: streams.mean(s, _clocked(method), "cpu") for name, s in settings.items()})
        names = list(curve)
        grown = curve[names[-1]] / curve[names[0]] / (int(names[-1][2:]) / int(names[0][2:])) if len(names) > 1 else None
        text = f"later requests take no longer (`{method}`, V = 5, within {TOLERANCE:.0%})"
        shown = None if grown is None else f"{grown:.2f} times as long at the end"
        yield judged("Theorem 4", text, at_most(1 + TOLERANCE), grown, paper="1", ours=shown)


def _clocked(method: str) -> str:
    """IQP (4) to the letter, which is what all placements are listed for."""
    return method if method == LISTING else f"{method} by price"


def _mean(values: Mapping[str, float], form: str, unit: str) -> str | None:
    return f"{mean(values.values()):{form}}{unit}" if values else None


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def seeds_said(streams: Streams, data: str, inside: str, scope: Scope) -> str:
    """'20 seeds; 3 of `sampling 0.6` ...'."""
    settings = list(scope.compared(data, inside))
    numbers = {m: sorted({len(streams.of(s, m)) for s in settings if streams.of(s, m)}) for m in ("greedy", *SAMPLING)}
    most = max(numbers["greedy"], default=0)
    few = [f"`{m}` {numbers[m][0]} where it takes long" for m in SAMPLING if numbers[m] and numbers[m][0] < most]
    return "; ".join([count(most, "seed"), *few])


def own_online(streams: Streams, data: str, scope: Scope) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """About `ours`."""
    settings = named(scope, data, FREE)
    for rival in RIVALS:
        gains = _known({name: streams.ahead(s, "ours", rival) for name, s in settings.items()})
        yield f"`ours` is at least as good as `{rival}`", {name: gain >= -AS_GOOD for name, gain in gains.items()}
    worst = {name: [streams.ahead(s, "ours", m) for m in PAPER] for name, s in settings.items()}
    known = {name: [gain for gain in gains if gain is not None] for name, gains in worst.items()}
    yield "`ours` is best of all", {name: min(gains) >= -AS_GOOD for name, gains in known.items() if gains}
