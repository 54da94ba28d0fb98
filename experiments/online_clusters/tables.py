"""Means and largest values over trials, and the tables made from them."""

from collections.abc import Mapping, Sequence
from statistics import mean

from experiments.online_clusters.settings import OFFLINE, ONE_SHOTS, ONLINE
from experiments.results import Row, picked, table

Cells = Mapping[tuple[str, ...], float]


def ratio_of(row: Row) -> float | None:
    """Cost over the optimum; None if nothing was found or the optimum is 0."""
    cost, optimum = float(row["cost"]), float(row["optimum"])
    return cost / optimum if optimum > 0 and cost < float("inf") else None


def one_shot_ratios(measured: Sequence[Row], method: str, **where: str) -> list[float]:
    """Ratios to the optimum of all trials."""
    found = (ratio_of(row) for row in picked(measured, method=method, **where))
    return [ratio for ratio in found if ratio is not None]


def one_shot_table(measured: Sequence[Row], inside: str) -> list[str]:
    """Mean and largest ratio to the optimum, per size."""
    sizes = list(dict.fromkeys((row["members"], row["zones"], row["resources"]) for row in picked(measured, inside=inside)))
    body = []
    for members, zones, resources in sizes:
        some = picked(measured, members=members, zones=zones, resources=resources, inside=inside)
        shown = []
        for method in ONE_SHOTS:
            found = one_shot_ratios(some, method)
            shown.append(f"{mean(found):.3f} ({max(found):.2f})" if found else "-")
        body.append([members, zones, resources, *shown])
    return table(["V", "S", "K", *(f"`{method}`" for method in ONE_SHOTS)], body)


def seconds_table(measured: Sequence[Row]) -> list[str]:
    """Figure 5: mean seconds by the number of members, at the largest number of zones."""
    zones = max((row["zones"] for row in measured), key=int)
    body = []
    for members in dict.fromkeys(row["members"] for row in measured):
        found = {
            m: [float(row["seconds"]) for row in picked(measured, method=m, members=members, zones=zones)] for m in ONE_SHOTS
        }
        body.append([members, *(f"{1000 * mean(some):.3f}" if some else "-" for some in found.values())])
    return table(["V", *(f"`{method}`, ms" for method in ONE_SHOTS)], body)


def stream_key(row: Row) -> tuple[str, ...]:
    """What tells one stream from another."""
    return tuple(row[name] for name in ("data", "members", "zones", "ratio", "requests", "capacity", "slots", "seed"))


def online_ratios(measured: Sequence[Row], method: str, **where: str) -> Cells:
    """Stream -> the proven bound of the offline optimum over what a method accepted: at least the true ratio."""
    some = picked(measured, **where)
    bound = {stream_key(row): float(row["bound"]) for row in picked(some, method=OFFLINE) if row["bound"]}
    found = {}
    for row in picked(some, method=method):
        if stream_key(row) in bound and float(row["value"]) > 0:
            found[stream_key(row)] = bound[stream_key(row)] / float(row["value"])
    return found


def online_table(measured: Sequence[Row], letter: str, column: str, values: Sequence[str], **where: str) -> list[str]:
    """One of Figures 6 to 8: mean ratio to the offline bound, per value of one setting."""
    names = (*ONLINE, OFFLINE)
    body = []
    for value in values:
        shown, some = [], picked(measured, **{**where, column: value})
        for method in names:
            found = list(online_ratios(some, method).values())
            shown.append(f"{mean(found):.3f}" if found else "-")
        body.append([value, *shown])
    return table([letter, *(f"`{method}`" for method in names)], body)


def column_table(
    measured: Sequence[Row], letter: str, column: str, shown: str, methods: Sequence[str], **where: str
) -> list[str]:
    """Figures 9 to 11: the mean of a column per value of one setting."""
    body = []
    for value in sorted({row[column] for row in picked(measured, **where)}, key=int):
        cells = []
        for method in methods:
            found = [float(row[shown]) for row in picked(measured, method=method, **{**where, column: value})]
            cells.append(f"{mean(found):,.4g}" if found else "-")
        body.append([value, *cells])
    return table([letter, *(f"`{method}`" for method in methods)], body)
