"""What §VI-B of [Online clusters] says of streams beside what we measured.

A case is a setting: its value is the mean over seeds. Two methods are compared over the seeds that both have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from statistics import mean

from bayplan.words import count
from experiments.online_clusters import curve_claims
from experiments.online_clusters.curve_claims import methods_of, of_letter, ratio_claims, ratio_curve
from experiments.online_clusters.measured import Streams
from experiments.online_clusters.one_shot_claims import Means, power_of
from experiments.online_clusters.settings import (
    ALPHA,
    BY_PRICE,
    FREE,
    LIMITED,
    LISTING,
    MADE,
    PAPER,
    RIVALS,
    SAMPLING,
    Scope,
    Setting,
)
from experiments.verdicts import TOLERANCE, Claim, above, at_least, at_most, below, judged

PRICED = ("exact", *SAMPLING, "greedy")  # A_online with each of its one-shot methods, placed where it fits
AS_GOOD = 0.001  # means of ratios that differ by less are alike
SQUARE = 2.0  # the power of S and of V in Theorem 4


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
    if inside != LIMITED:
        yield _small_epsilon(streams, settings)
    yield from ratio_claims(streams, settings, inside)
    for method in methods_of("U", inside):
        curve = {n: r for letter in "UI" for n, r in ratio_curve(streams, of_letter(settings, letter), method).items()}
        share = {name: ratio / worst_case(settings[name]) for name, ratio in curve.items()}
        text = f"the ratio of `{method}` is below its bound alpha ln(lambda)"
        yield judged("Figures 7, 8", text, below(1.0), share, paper="below 1", ours=_mean(share, ".2f", " of it"))


def _small_epsilon(streams: Streams, settings: Mapping[str, Setting]) -> Claim:
    """ "Similar to the observation in Fig. 7": A_sub1 with a small epsilon beside A_sub2, wherever it was measured."""
    cases = _known({name: streams.ahead(s, "sampling 0.6", "greedy") for name, s in settings.items()})
    text = "A_online has a lower ratio with `sampling 0.6` than with `greedy`"
    claim = judged("Figure 7, §VI-B", text, above(), cases)
    only = cases and not any(name.startswith("U=") for name in cases)
    return replace(claim, scale="U = 50 only, by V and S") if only else claim


def worst_case(setting: Setting) -> float:
    """alpha ln(lambda), Theorem 5."""
    return ALPHA * log(2 * (ALPHA * setting.ratio + 1))


def _best_with_exact(streams: Streams, setting: Setting) -> float | None:
    """By how much the best of the other one-shot methods is above `exact`; each over the seeds that it has."""
    found = [streams.ahead(setting, "exact", other) for other in PRICED if other != "exact"]
    return min((gain for gain in found if gain is not None), default=None)


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
    wide, small = by_requests(scope.figures(data, inside)["I"]), by_requests(scope.small(data, inside))
    yield from curve_claims.value_claims(streams, wide, small, inside)
    if inside == LIMITED:
        return
    more = _known({name: streams.more(s, "sampling 0.6", "greedy", "value") for name, s in small.items()})
    yield judged("Figure 9", "`sampling 0.6` accepts more value than `greedy` (V = 3)", above(), more)


def winner_claims(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figure 10: the share of winners."""
    by_capacity = {str(capacity): by_requests(scope.counted(capacity)) for capacity in scope.capacities}
    yield from curve_claims.winner_claims(streams, by_capacity, by_requests(scope.figures(MADE, FREE)["I"]))


def time_claims(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figure 11, and the proof of Theorem 4; seconds of the CPU."""
    settings = by_requests(scope.clocked())
    for fast, slow in (("greedy", "sampling 1.0"), ("sampling 1.0", LISTING), ("greedy", LISTING)):
        faster = _known({name: streams.more(s, _clocked(slow), _clocked(fast), "cpu") for name, s in settings.items()})
        shown = f"{mean(faster.values()) + 1:.3g} times as fast" if faster else None
        yield judged("Figure 11", f"`{fast}` is faster than `{slow}` (V = 5)", above(), faster, ours=shown)
    slower = _known({name: streams.more(s, _clocked("sampling 1.0"), _clocked("greedy"), "cpu") for name, s in settings.items()})
    text = f"`sampling 1.0` is only slightly slower than `greedy` (V = 5, within {TOLERANCE:.0%})"
    yield judged("Figure 11", text, at_most(TOLERANCE), slower, paper="slightly", ours=_mean(slower, ",.0f", " times slower"))
    yield from _theorem_4(streams, settings, scope)


def _theorem_4(streams: Streams, settings: Mapping[str, Setting], scope: Scope) -> Iterator[Claim]:
    """What "in polynomial time" means in its proof: O((S V)^2 + |M| slots) and A_sub for each request, so I does not count."""
    for method in ("exact", "sampling 1.0", "greedy"):
        curve = _known({name: streams.mean(s, _clocked(method), "cpu") for name, s in settings.items()})
        names = list(curve)
        grown = curve[names[-1]] / curve[names[0]] / (int(names[-1][2:]) / int(names[0][2:])) if len(names) > 1 else None
        text = f"the time of a request does not grow with I (`{method}`, V = 5, within {TOLERANCE:.0%})"
        shown = None if grown is None else f"{grown:.2f} times as long"
        yield judged("Theorem 4, proof", text, at_most(1 + TOLERANCE), grown, paper="1", ours=shown)
    for letter, some in scope.figures(MADE, FREE).items():
        if letter in "SV":
            cpu = _known({value_of(s, letter): streams.mean(s, _clocked("greedy"), "cpu") for s in some})
            points = [(int(value), seconds) for value, seconds in cpu.items() if seconds > 0]
            power = power_of(points) if len(points) > 1 else None
            text = f"the time of a request is O((S V)^2) by {letter} (`greedy`)"
            shown = None if power is None else f"{letter}^{power:.1f}"
            yield judged("Theorem 4, proof", text, at_most(SQUARE), power, paper=f"{letter}^2", ours=shown)


def _clocked(method: str) -> str:
    """IQP (4) to the letter, which is what all placements are listed for."""
    return method if method == LISTING else f"{method} by price"


def _mean(values: Mapping[str, float], form: str, unit: str) -> str | None:
    return f"{mean(values.values()):{form}}{unit}" if values else None


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def seeds_said(streams: Streams, data: str, inside: str, scope: Scope, text: str) -> str:
    """'20 seeds'; '20 seeds; `sampling 0.6` 3 where it takes long' if the text of a claim is of that method with V > 3."""
    settings = list(scope.compared(data, inside))
    numbers = {m: sorted({len(streams.of(s, m)) for s in settings if streams.of(s, m)}) for m in ("greedy", *SAMPLING)}
    most = max(numbers["greedy"], default=0)
    meant = [m for m in SAMPLING if (f"`{m}`" in text or "best with" in text) and "V = 3" not in text]
    few = [f"`{m}` {numbers[m][0]} where it takes long" for m in meant if numbers[m] and numbers[m][0] < most]
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
