"""Figures 2 to 11 of [Online clusters]."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from experiments.curves import Axis, Point, chart
from experiments.online_clusters.measured import Streams
from experiments.online_clusters.settings import CLOCKED, COUNTED, MADE, ONE_SHOTS, ONLINE, TIMED, Scope, Setting
from experiments.online_clusters.tables import one_shot_ratios
from experiments.results import Row, picked

Curves = Mapping[str, Sequence[Point]]
NAMES = {"V": "containers in a cluster (V)", "S": "zones (S)", "U": "U", "I": "requests (I)"}
FIGURES = {"V": "6-v", "S": "6-s", "U": "7", "I": "8"}  # letter -> figure


def word_of(data: str, inside: str) -> str:
    """In the names of pictures."""
    return data if data != MADE else f"section-vi-{inside}"


def pictures(one_shot: Sequence[Row], streams: Streams, scope: Scope) -> dict[str, str]:
    """File names and SVG documents."""
    drawn = dict(one_shot_pictures(one_shot)) if one_shot else {}
    for data, inside in scope.kinds:
        if any(row["data"] == data and row["inside"] == inside for row in streams.rows):
            drawn.update(online_pictures(streams, data, inside, scope))
    if any(row["capacity"] != "0" for row in streams.rows):
        drawn.update(counted_pictures(streams, scope))
    return drawn


def one_shot_pictures(measured: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Figures 2, 3, 4 and 5."""
    zones = max((row["zones"] for row in measured), key=int)
    middle = "5" if any(row["members"] == "5" for row in measured) else measured[0]["members"]
    for inside in dict.fromkeys(row["inside"] for row in measured):
        said = f"traffic inside of a zone is {inside}"
        at = {"inside": inside, "zones": zones, "resources": "1"}
        costs = {m: _means(picked(measured, method=m, **at), "members", "cost") for m in ONE_SHOTS}
        yield (
            f"online-clusters-2-{inside}.svg",
            _drawn("Cost of one cluster ([Online clusters] Figure 2)", said, "V", "cost", costs),
        )
        by_zones = {m: _ratios(measured, m, "zones", inside=inside, members=middle, resources="1") for m in ONE_SHOTS}
        title = f"Ratio to the optimum over zones, V = {middle} ([Online clusters] Figure 3)"
        yield f"online-clusters-3-{inside}.svg", _drawn(title, said, "S", "cost / optimum", by_zones)
        by_members = {m: _ratios(measured, m, "members", **at) for m in ONE_SHOTS}
        more = {
            f"{m}, K = {k}": _ratios(measured, m, "members", inside=inside, zones=zones, resources=k)
            for m in ("local", "greedy")
            for k in sorted({row["resources"] for row in measured} - {"1"})
        }
        title = "Ratio to the optimum over containers ([Online clusters] Figure 4)"
        yield f"online-clusters-4-{inside}.svg", _drawn(title, said, "V", "cost / optimum", {**by_members, **more})
    seconds = {m: _means(picked(measured, method=m, zones=zones, resources="1"), "members", "cpu") for m in TIMED}
    title = "Mean CPU seconds to place one cluster ([Online clusters] Figure 5)"
    yield "online-clusters-5.svg", _drawn(title, "", "V", "s", seconds, log=True)


def online_pictures(streams: Streams, data: str, inside: str, scope: Scope) -> Iterator[tuple[str, str]]:
    """Figures 6 to 9 of one kind of streams."""
    word = word_of(data, inside)
    said = "Proven bound of the offline optimum over the value accepted; means over seeds; 1 is the best there can be."
    figures = scope.figures(data, inside)
    for letter, figure in FIGURES.items():
        curves = {m: _curve({s: streams.ratio(s, m) for s in figures[letter]}, letter) for m in ONLINE}
        title = f"{data}: ratio to the offline optimum ([Online clusters] Figure {figure[0]})"
        yield f"online-clusters-{figure}-{word}.svg", _drawn(title, said, letter, "ratio", curves)
    values = {m: _curve({s: streams.mean(s, m, "value") for s in figures["I"]}, "I") for m in ONLINE if "sampling" not in m}
    title = f"{data}: value accepted ([Online clusters] Figure 9)"
    yield f"online-clusters-9-{word}.svg", _drawn(title, "", "I", "value", values)


def counted_pictures(streams: Streams, scope: Scope) -> Iterator[tuple[str, str]]:
    """Figures 10 and 11."""
    winners = {
        f"{m}, C = {c}": _curve({s: streams.winners(s, m) for s in scope.counted(c)}, "I")
        for c in scope.capacities
        for m in COUNTED
    }
    title = "Share of winners ([Online clusters] Figure 10)"
    yield "online-clusters-10.svg", _drawn(title, "", "I", "accepted", winners, percent=True)
    times = {m: _curve({s: streams.mean(s, m, "cpu") for s in scope.clocked()}, "I") for m in CLOCKED}
    title = "CPU seconds for a whole stream, five containers each ([Online clusters] Figure 11)"
    yield "online-clusters-11.svg", _drawn(title, "", "I", "s", times, log=True)


def _curve(values: Mapping[Setting, float | None], letter: str) -> list[Point]:
    """The points of what is known, by a letter."""
    at = {"V": lambda s: float(s.members), "S": lambda s: s.zones, "U": lambda s: s.ratio, "I": lambda s: s.requests}[letter]
    return sorted((at(setting), value) for setting, value in values.items() if value is not None)


def _means(some: Sequence[Row], x: str, y: str) -> list[Point]:
    found: dict[float, list[float]] = {}
    for row in some:
        if float(row[y]) < float("inf"):
            found.setdefault(float(row[x]), []).append(float(row[y]))
    return [(at, mean(values)) for at, values in sorted(found.items())]


def _ratios(measured: Sequence[Row], method: str, x: str, **where: str) -> list[Point]:
    some = picked(measured, method=method, **where)
    found = {float(value): one_shot_ratios(some, method, **{x: value}) for value in dict.fromkeys(row[x] for row in some)}
    return [(at, mean(some)) for at, some in sorted(found.items()) if some]


def _drawn(title: str, caption: str, x: str, y: str, curves: Curves, *, log: bool = False, percent: bool = False) -> str:
    some = {name: points for name, points in curves.items() if points}
    across = [a for points in some.values() for a, _ in points] or [0.0, 1.0]
    up = [b for points in some.values() for _, b in points] or [0.0, 1.0]
    least = min(up) * 0.9 if log else (0.0 if percent or min(up) < 1 or max(up) > 20 else 1.0)
    horizontal = Axis(least=min(across), most=max(across), name=NAMES[x])
    vertical = Axis(
        least=max(least, 1e-9) if log else least, most=max(up) * 1.05 or 1.0, name=y, logarithmic=log, percent=percent
    )
    return chart(title, caption, horizontal, vertical, some)
