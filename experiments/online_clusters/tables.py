"""Means and largest values over trials, and the tables made from them."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from experiments.online_clusters.measured import Streams
from experiments.online_clusters.settings import ONE_SHOTS, TIMED, Setting
from experiments.results import Row, picked, table
from experiments.verdicts import yes


def ratio_of(row: Row) -> float | None:
    """Cost over the optimum; None if nothing was found or the optimum is 0."""
    cost, optimum = float(row["cost"]), float(row["optimum"])
    return cost / optimum if optimum > 0 and cost < float("inf") else None


def one_shot_ratios(measured: Sequence[Row], method: str, **where: str) -> list[float]:
    """Ratios to the optimum of all trials."""
    found = (ratio_of(row) for row in picked(measured, method=method, **where))
    return [ratio for ratio in found if ratio is not None]


def one_shot_table(measured: Sequence[Row], inside: str) -> list[str]:
    """Mean and largest ratio to the optimum, per size, and n of `sampling 0.6`."""
    sizes = list(dict.fromkeys((row["members"], row["zones"], row["resources"]) for row in picked(measured, inside=inside)))
    body = []
    for members, zones, resources in sizes:
        some = picked(measured, members=members, zones=zones, resources=resources, inside=inside)
        shown = []
        for method in ONE_SHOTS:
            found = one_shot_ratios(some, method)
            shown.append(f"{mean(found):.3f} ({max(found):.2f})" if found else "-")
        samples = next((row["n"] for row in picked(some, method="sampling 0.6")), "-")
        body.append([members, zones, resources, samples, *shown])
    return table(["V", "S", "K", "n, 0.6", *(f"`{method}`" for method in ONE_SHOTS)], body)


def seconds_table(measured: Sequence[Row]) -> list[str]:
    """Figure 5: mean CPU milliseconds by the number of members, at the largest number of zones."""
    zones = max((row["zones"] for row in measured), key=int)
    body = []
    for members in sorted({row["members"] for row in measured}, key=int):
        some = picked(measured, members=members, zones=zones)
        found = {m: [float(row["cpu"]) for row in picked(some, method=m)] for m in TIMED}
        body.append([members, *(f"{1000 * mean(times):,.3f}" if times else "-" for times in found.values())])
    return table(["V", *(f"`{method}`, ms" for method in TIMED)], body)


def ratio_table(streams: Streams, letter: str, settings: Mapping[str, Setting], methods: Sequence[str]) -> list[str]:
    """One of Figures 6 to 8: mean ratio to the bound, per setting; how many seeds, where they are fewer than of others."""
    body = []
    for name, setting in settings.items():
        seeds = max((len(streams.ratios(setting, method)) for method in methods), default=0)
        body.append([name, *(_ratio(streams, setting, method, seeds) for method in methods)])
    return table([letter, *(f"`{method}`" for method in methods)], body)


def _ratio(streams: Streams, setting: Setting, method: str, seeds: int) -> str:
    found = streams.ratios(setting, method)
    if not found:
        return "-"
    return f"{mean(found.values()):.3f}" + (f" ({len(found)} seeds)" if len(found) < seeds else "")


def column_table(
    streams: Streams, settings: Mapping[str, Setting], column: str, methods: Sequence[str], form: str = ",.4g"
) -> list[str]:
    """Figures 9 to 11: the mean of a column by the number of requests."""
    body = []
    for name, setting in settings.items():
        found = [streams.mean(setting, method, column) for method in methods]
        body.append([name, *("-" if value is None else format(value, form) for value in found)])
    return table(["I", *(f"`{method}`" for method in methods)], body)


def own_lines(questions: Iterable[tuple[str, Mapping[str, bool]]]) -> list[str]:
    """A table of our own methods: a question, where the answer is yes, and whether that is everywhere."""
    body = []
    for text, holds in questions:
        failed = [name for name, fine in holds.items() if not fine]
        where = f"; not at {', '.join(failed[:5])}{' and others' if len(failed) > 5 else ''}" if failed else ""
        body.append([text, f"{sum(holds.values())} of {len(holds)}{where}", yes(not failed) if holds else "-"])
    return table(["beyond the paper", "holds at", "everywhere?"], body)
