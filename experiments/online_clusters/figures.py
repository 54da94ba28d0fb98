"""Figures 2 to 11 of [Online clusters]."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from experiments.curves import Axis, Point, chart
from experiments.online_clusters.settings import COUNTED, ONE_SHOTS, ONLINE, Scope
from experiments.online_clusters.tables import one_shot_ratios, online_ratios
from experiments.results import Row, picked

Curves = Mapping[str, Sequence[Point]]
NAMES = {"members": "containers in a cluster (V)", "zones": "zones (S)", "ratio": "U", "requests": "requests (I)"}


def pictures(one_shot: Sequence[Row], online: Sequence[Row], scope: Scope) -> dict[str, str]:
    """File names and SVG documents."""
    drawn = dict(one_shot_pictures(one_shot)) if one_shot else {}
    for data in dict.fromkeys(row["data"] for row in online):
        drawn.update(online_pictures(online, data, scope))
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
            _drawn("Cost of one cluster ([Online clusters] Figure 2)", said, "members", "cost", costs),
        )
        by_zones = {m: _ratios(measured, m, "zones", inside=inside, members=middle, resources="1") for m in ONE_SHOTS}
        title = f"Ratio to the optimum over zones, V = {middle} ([Online clusters] Figure 3)"
        yield f"online-clusters-3-{inside}.svg", _drawn(title, said, "zones", "cost / optimum", by_zones)
        by_members = {m: _ratios(measured, m, "members", **at) for m in ONE_SHOTS}
        more = {
            f"{m}, K = {k}": _ratios(measured, m, "members", inside=inside, zones=zones, resources=k)
            for m in ("local", "greedy")
            for k in sorted({row["resources"] for row in measured} - {"1"})
        }
        title = "Ratio to the optimum over containers ([Online clusters] Figure 4)"
        yield f"online-clusters-4-{inside}.svg", _drawn(title, said, "members", "cost / optimum", {**by_members, **more})
    seconds = {m: _means(picked(measured, method=m, zones=zones, resources="1"), "members", "seconds") for m in ONE_SHOTS}
    yield (
        "online-clusters-5.svg",
        _drawn("Mean seconds to place one cluster ([Online clusters] Figure 5)", "", "members", "s", seconds, log=True),
    )


def online_pictures(measured: Sequence[Row], data: str, scope: Scope) -> Iterator[tuple[str, str]]:
    """Figures 6 to 11 of one kind of streams."""
    word = data.replace(" ", "-").lower()
    base = dict(zip(("members", "zones", "ratio", "requests", "capacity", "slots"), scope.base.key[1:], strict=True))
    said = "Proven bound of the offline optimum over the value accepted; means over seeds; 1 is the best there can be."
    for figure, column in (("6-v", "members"), ("6-s", "zones"), ("7", "ratio"), ("8", "requests")):
        fixed = {name: value for name, value in base.items() if name != column}
        curves = {m: _online(measured, m, column, data=data, **fixed) for m in ONLINE}
        title = f"{data}: ratio to the offline optimum ([Online clusters] Figure {figure[0]})"
        yield f"online-clusters-{figure}-{word}.svg", _drawn(title, said, column, "ratio", curves)
    fixed = {name: value for name, value in base.items() if name != "requests"}
    values = {m: _means(picked(measured, method=m, data=data, **fixed), "requests", "value") for m in ONLINE}
    title = f"{data}: value accepted ([Online clusters] Figure 9)"
    yield f"online-clusters-9-{word}.svg", _drawn(title, "", "requests", "value", values)
    counted = [c for c in sorted({row["capacity"] for row in picked(measured, data=data)}, key=int) if c != "0"]
    if counted:
        without = {name: value for name, value in fixed.items() if name != "capacity"}
        winners = {
            f"{m}, C = {c}": _shares(picked(measured, method=m, data=data, capacity=c, **without))
            for c in counted
            for m in COUNTED
        }
        yield (
            "online-clusters-10.svg",
            _drawn("Share of winners ([Online clusters] Figure 10)", "", "requests", "accepted", winners, percent=True),
        )
        five = {**fixed, "members": "5"}
        times = {m: _means(picked(measured, method=m, data=data, **five), "requests", "seconds") for m in COUNTED}
        title = "Seconds for a whole stream, five containers each ([Online clusters] Figure 11)"
        yield "online-clusters-11.svg", _drawn(title, "", "requests", "s", times, log=True)


def _means(some: Sequence[Row], x: str, y: str) -> list[Point]:
    found: dict[float, list[float]] = {}
    for row in some:
        if float(row[y]) < float("inf"):
            found.setdefault(float(row[x]), []).append(float(row[y]))
    return [(at, mean(values)) for at, values in sorted(found.items())]


def _shares(some: Sequence[Row]) -> list[Point]:
    found: dict[float, list[float]] = {}
    for row in some:
        found.setdefault(float(row["requests"]), []).append(int(row["winners"]) / int(row["requests"]))
    return [(at, mean(values)) for at, values in sorted(found.items())]


def _ratios(measured: Sequence[Row], method: str, x: str, **where: str) -> list[Point]:
    some = picked(measured, method=method, **where)
    found = {float(value): one_shot_ratios(some, method, **{x: value}) for value in dict.fromkeys(row[x] for row in some)}
    return [(at, mean(some)) for at, some in sorted(found.items()) if some]


def _online(measured: Sequence[Row], method: str, x: str, **where: str) -> list[Point]:
    some = picked(measured, **where)
    values = dict.fromkeys(row[x] for row in picked(some, method=method))
    found = {float(value): list(online_ratios(some, method, **{x: value}).values()) for value in values}
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
