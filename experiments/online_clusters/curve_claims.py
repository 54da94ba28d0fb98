"""How ratios, values and winners change with V, S, U and I: the curves of Figures 6 to 10 of [Online clusters].

A point is the mean over the seeds that all points of its curve have. Its ratio is to a proven bound of the optimum, so at least
the true one; to the best value that any method has it is at most the true one. A curve is judged by the first, and says both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import mean

from bayplan.words import count
from experiments.online_clusters.measured import Streams
from experiments.online_clusters.settings import LIMITED, SAMPLING, Setting
from experiments.verdicts import TOLERANCE, Claim, Stated, above, at_most, below, judged

STEADY = 5  # zones from which on the ratio "remains steady"
FOLLOWED = ("exact", "greedy")  # they have all seeds everywhere
SAMPLED = "sampling 1.0"  # on all streams; `sampling 0.6` has n = V, so no more than four members
Settings = Mapping[str, Setting]  # 'S=3' -> the setting
Curve = dict[str, float]  # 'S=3' -> mean


def methods_of(letter: str, inside: str) -> tuple[str, ...]:
    """A_online with each one-shot method that goes through the streams of a letter."""
    if inside == LIMITED:
        return FOLLOWED
    return (*FOLLOWED, *SAMPLING) if letter in "VS" else (*FOLLOWED, SAMPLED)


def curve_of(settings: Settings, of: Callable[[Setting], Mapping[str, float]]) -> tuple[Curve, int]:
    """The mean at each setting with rows, over the seeds that all of these have; and how many seeds that are."""
    found = {name: by_seed for name, setting in settings.items() if (by_seed := of(setting))}
    seeds = _shared(found.values())
    return {name: mean(by_seed[seed] for seed in seeds) for name, by_seed in found.items()} if seeds else {}, len(seeds)


def _shared(found: Iterable[Mapping[str, float]]) -> list[str]:
    every = [set(by_seed) for by_seed in found]
    return sorted(set.intersection(*every)) if every else []


def ratio_curve(streams: Streams, settings: Settings, method: str, *, known: bool = False) -> Curve:
    """Ratios to the bound, or to the best value known."""
    ratios = streams.known_ratios if known else streams.ratios
    return curve_of(settings, lambda setting: ratios(setting, method))[0]


def share_curve(streams: Streams, settings: Settings, method: str) -> Curve:
    """Shares of winners."""
    found = curve_of(settings, lambda setting: streams.column(setting, method, "winners"))[0]
    return {name: winners / settings[name].requests for name, winners in found.items()}


def of_letter(settings: Settings, letter: str) -> dict[str, Setting]:
    """The settings of one letter."""
    return {name: setting for name, setting in settings.items() if name[0] == letter}


# ---- Figures 6 to 8 ------------------------------------------------------------------------------------------------------------


def ratio_claims(streams: Streams, settings: Settings, inside: str) -> Iterator[Claim]:
    """The ratio along each letter."""
    for figure, letter, stated, word in (
        ("Figure 6", "V", above(), "grows"),
        ("Figure 6", "S", below(), "falls"),
        ("Figure 7", "U", above(), "grows"),
    ):
        for method in methods_of(letter, inside):
            text = f"the ratio {word} with {letter} (`{method}`)"
            yield _trend(streams, of_letter(settings, letter), method, (figure, text), stated)
    by_zones = of_letter(settings, "S")
    steady = {name: setting for name, setting in by_zones.items() if setting.zones >= STEADY}
    for method in methods_of("S", inside):
        text = f"the ratio is steady from S = {STEADY} on (`{method}`, within {TOLERANCE:.0%})"
        yield _level(streams, steady, method, ("Figure 6", text))
    for method in methods_of("I", inside):
        text = f"I has no major effect (`{method}`, within {TOLERANCE:.0%})"
        yield _level(streams, of_letter(settings, "I"), method, ("Figure 8", text))


def _trend(streams: Streams, settings: Settings, method: str, words: tuple[str, str], stated: Stated) -> Claim:
    """From the first to the last value of a letter."""
    ours, known = (ends(ratio_curve(streams, settings, method, known=known)) for known in (False, True))
    change = ours[1] / ours[0] - 1 if ours else None
    claim = judged(*words, stated, change, ours=f"{ours[0]:.2f} to {ours[1]:.2f}" if ours else None)
    return replace(claim, scale=_scale(streams, settings, method, f"{known[0]:.2f} to {known[1]:.2f}" if known else ""))


def _level(streams: Streams, settings: Settings, method: str, words: tuple[str, str]) -> Claim:
    """How far the values of a letter are apart."""
    ours, known = (apart(ratio_curve(streams, settings, method, known=known)) for known in (False, True))
    claim = judged(*words, at_most(TOLERANCE), ours, ours=None if ours is None else f"apart by {100 * ours:.1f} %")
    return replace(claim, scale=_scale(streams, settings, method, f"apart by {100 * known:.1f} %" if known is not None else ""))


def _scale(streams: Streams, settings: Settings, method: str, known: str) -> str:
    """'1 seed that all have; to the best value known 1.02 to 1.22'."""
    seeds = curve_of(settings, lambda setting: streams.ratios(setting, method))[1]
    most = max((len(streams.of(setting, method)) for setting in settings.values()), default=0)
    few = f"{count(seeds, 'seed')} that all points have" if 0 < seeds < most else ""
    return "; ".join(filter(None, (few, f"to the best value known {known}" if known else "")))


def ends(curve: Curve) -> tuple[float, float] | None:
    """The first and the last value; None if there are not two."""
    values = list(curve.values())
    return (values[0], values[-1]) if len(values) > 1 else None


def apart(curve: Curve) -> float | None:
    """The largest over the least, minus 1; None if there are not two."""
    return max(curve.values()) / min(curve.values()) - 1 if len(curve) > 1 else None


# ---- Figures 9 and 10 ----------------------------------------------------------------------------------------------------------


def value_claims(streams: Streams, wide: Settings, small: Settings, inside: str) -> Iterator[Claim]:
    """Figure 9: the value by the number of requests; that of `sampling 0.6` with three members."""
    followed = [(method, wide, "") for method in methods_of("I", inside)]
    for method, settings, few in [*followed, *([] if inside == LIMITED else [("sampling 0.6", small, ", V = 3")])]:
        both = ends(curve_of(settings, lambda setting, m=method: streams.column(setting, m, "value"))[0])  # type: ignore[misc]
        change = both[1] / both[0] - 1 if both else None
        yield judged("Figure 9", f"the value grows with I (`{method}`{few})", above(), change)


def winner_claims(streams: Streams, by_capacity: Mapping[str, Settings], drawn: Settings) -> Iterator[Claim]:
    """Figure 10: the share of winners by the number of requests, at each capacity; A_sub1 where capacities are drawn."""
    for method in FOLLOWED:
        for capacity, settings in by_capacity.items():
            yield from _winners(streams, settings, method, capacity)
        few, *_, many = (share_curve(streams, settings, method) for settings in by_capacity.values())
        more = {name: many[name] / value - 1 for name, value in few.items() if name in many and value}
        yield judged("Figure 10", f"more capacity gives a higher share of winners (`{method}`)", above(), more)
    yield from _winners(streams, drawn, SAMPLED, "50 to 100")


def _winners(streams: Streams, settings: Settings, method: str, capacity: str) -> Iterator[Claim]:
    curve = share_curve(streams, settings, method)
    both = ends(curve)
    text = f"the share of winners falls with I (`{method}`, C = {capacity})"
    change = both[1] / both[0] - 1 if both else None
    yield judged("Figure 10", text, below(), change, ours=f"{both[0]:.1%} to {both[1]:.1%}" if both else None)
    number = {name: share * settings[name].requests for name, share in curve.items()}
    text = f"the number of winners is steady (`{method}`, C = {capacity}, within {TOLERANCE:.0%})"
    found, shown = apart(number), ends(number)
    said = f"{shown[0]:.0f} to {shown[1]:.0f}" if shown else None
    yield judged("Figure 10", text, at_most(TOLERANCE), found, paper="relatively steady", ours=said)
