"""What [RASA] says about Figures 5 to 8 and 10: a sentence each, with its verdict."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from experiments.rasa.claims import verdict
from experiments.rasa.paper import LOST, MOST_LOST, MOST_TIME, OVER_KAHIP, OVER_RANDOM, TIME_SHARE
from experiments.rasa.tables import affinity, answered, yes
from experiments.results import Row, picked

SAME = 0.005  # points of total affinity that make no difference
CLOSE = 0.02  # points from the best that is close to it


def about_partitions(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 6 and the supplement."""
    table = by_option(measured, "partition")
    ours = {name: found["multi-stage"] for name, found in table.items() if "multi-stage" in found}
    for other, paper in (("random", OVER_RANDOM), ("min-cut", OVER_KAHIP)):
        gains = [mine - table[name][other] for name, mine in ours.items() if other in table[name]]
        if gains:
            said = f"by {mean(gains):.1%} on average of {len(gains)} ({min(gains):.1%} to {max(gains):.1%}); paper {paper:.2%}"
            yield f"- `multi-stage` above `{other}`, points of total affinity: {verdict(gains, paper)}: {said}."
    beaten = [f"{n} ({o} {v:.4f})" for n, found in table.items() for o, v in found.items() if n in ours and v > ours[n]]
    yield f"- Is `multi-stage` the best of all partitioners on each cluster? {yes(not beaten)}{_list(': not on ', beaten)}."
    yield from _none(measured, table)
    own = [row for row in answered(measured) if row["options"] == "partition=multi-stage"]
    if own:
        lost = {row["cluster"]: float(row["lost"]) for row in own}
        said = ", ".join(f"{name} {part:.2%} (the paper: {_paper(LOST, name)})" for name, part in lost.items())
        good = max(lost.values()) < MOST_LOST
        yield f"- Affinity that `multi-stage` loses below {MOST_LOST:.0%}, as in the paper? {yes(good)}: {said}."
        share = {row["cluster"]: float(row["partition_seconds"]) / float(row["wall"]) for row in own}
        said = ", ".join(f"{name} {part:.1%} (the paper: {_paper(TIME_SHARE, name)})" for name, part in share.items())
        good = max(share.values()) < MOST_TIME
        yield f"- Time that `multi-stage` takes of all below {MOST_TIME:.0%}, as in the paper? {yes(good)}: {said}."


def _none(measured: Sequence[Row], table: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    rows = picked(measured, options="partition=none")
    if rows:
        said = [f"{row['cluster']} {row['fault'] or format(table[row['cluster']]['none'], '.4f')}" for row in rows]
        yield f"- Without a partition (the paper: an answer for M3 only): {', '.join(said)}."


def _paper(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.2%}" if name in figures else "-"


def _list(start: str, words: Sequence[str]) -> str:
    return start + ", ".join(words) if words else ""


def by_option(measured: Sequence[Row], name: str) -> dict[str, dict[str, float]]:
    """Cluster -> value of an option -> gained affinity; without those that have no answer."""
    found: dict[str, dict[str, float]] = {}
    for row in answered(measured):
        value = row["options"].removeprefix(f"{name}=")
        found.setdefault(row["cluster"], {})[value] = float(row["affinity"])
    return found


def about_selection(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 8."""
    table = by_option(measured, "select")
    selectors = list(dict.fromkeys(value for found in table.values() for value in found))
    for selector in selectors:
        behind = {name: max(found.values()) - found[selector] for name, found in table.items() if selector in found}
        best = [name for name, gap in behind.items() if gap <= SAME]
        how = f"on {len(best)} of {len(behind)} clusters; {max(behind.values()):.4f} behind the best at most"
        asked = " (the paper: on all)" if selector == "gcn" else " (the paper: not on all)"
        yield f"- Is `{selector}` the best, or within {SAME:g} of it{asked}? {yes(len(best) == len(behind))}: {how}."


def about_masters(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 7."""
    for name, found in by_option(measured, "ratio").items():
        if "1" in found:
            best = max(found, key=lambda ratio: found[ratio])
            said = f"{found['1']:.4f}, the best is {found[best]:.4f} with {best} times as many"
            good = found["1"] >= found[best] - CLOSE
            yield f"- {name}: is 45 ln^0.66 N close to the best number of masters, within {CLOSE:g}? {yes(good)}: {said}."


def about_time(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 10."""
    for name in dict.fromkeys(row["cluster"] for row in measured):
        rows = picked(answered(measured), cluster=name)
        times = list(dict.fromkeys(row["seconds"] for row in rows))
        for other in ("applsci19", "pop"):
            both = [(s, [affinity(rows, method=method, seconds=s) for method in ("rasa", other)]) for s in times]
            lost = [f"{s} s" for s, (mine, theirs) in both if mine is not None and theirs is not None and mine <= theirs]
            if any(None not in pair for _, pair in both):
                yield f"- {name}: is `rasa` above `{other}` at every time? {yes(not lost)}{_list(': not at ', lost)}."
        for method in ("rasa", "pop"):
            found = [value for s in times if (value := affinity(rows, method=method, seconds=s)) is not None]
            if len(found) > 1:
                how = f"{found[0]:.4f} after {times[0]} s, {found[-1]:.4f} after {times[len(found) - 1]} s"
                little = found[-1] - found[0] < 2 * CLOSE
                yield f"- {name}: does more time help `{method}` little, by less than {2 * CLOSE:g}? {yes(little)}: {how}."


def about_fits(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 5."""
    squares = {(row["cluster"], row["curve"]): float(row["squares"]) for row in measured}
    names = [name for name, curve in squares if curve == "power law" and (name, "exponential") in squares]
    if names:
        worse = [name for name in names if squares[name, "power law"] >= squares[name, "exponential"]]
        held = yes(not worse)
        yield f"- Does the power law fit better than the exponential on each of {len(names)}? {held}{_list(': not on ', worse)}."
        beta = {row["cluster"]: float(row["rate"]) for row in measured if row["curve"] == "power law"}
        said = ", ".join(f"{name} {value:.2f}" for name, value in beta.items())
        yield f"- Is beta above 1 (Assumption 4.1)? {yes(min(beta.values()) > 1)}: {said}."
