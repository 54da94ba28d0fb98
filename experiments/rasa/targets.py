"""What we ask of our own answers on M3, the front and the four clusters: a question each, with its answer."""

from collections.abc import Iterator, Sequence
from statistics import median

from experiments.rasa.paper import (
    CEILING,
    LEAST,
    MEDIAN,
    MEMORY,
    QUICK,
    REFIT,
    STORED,
    UNDER_CAP,
    WORST,
)
from experiments.rasa.parts import BASELINES
from experiments.rasa.tables import affinity, answered, comparable, numbers, sound
from experiments.results import Row, picked
from experiments.verdicts import yes


def about_m3(measured: Sequence[Row]) -> Iterator[str]:
    """M3 within a minute."""
    yield from _best(measured)
    for trivial, least in (("refit", REFIT), ("pinned", None)):
        found = numbers(picked(measured, method="rasa", options=f"trivial={trivial}"), "affinity")
        if found and least is not None:
            how = f"{min(found):.4f} to {max(found):.4f} over {_seeds(found)}"
            yield f"- `rasa --trivial {trivial}` at least {least:.2f}? {yes(min(found) >= least)}: {how}."
        elif found:
            how = f"{min(found):.4f} to {max(found):.4f} over {_seeds(found)}"
            yield f"- `rasa --trivial {trivial}`, the paper's way, gains {how}."
    for method, least in LEAST.items():
        found = numbers(picked(measured, method=method), "affinity")
        if found:
            how = f"{min(found):.4f} at least over {_seeds(found)}"
            yield f"- `{method}`, no straw man: at least {least:.2f}? {yes(min(found) >= least)}: {how}."
    yield _soundness(measured)
    yield from _in_time(measured)


def _best(measured: Sequence[Row]) -> Iterator[str]:
    best = picked(measured, method="best")
    long, short = (numbers(picked(best, threads=threads), "affinity") for threads in ("2", "1"))
    if long:
        good = median(long) >= MEDIAN and min(long) >= WORST
        how = f"{median(long):.4f}, {min(long):.4f} over {_seeds(long)}"
        yield f"- `best`, 60 s, 2 threads: median at least {MEDIAN:.3f}, worst at least {WORST:.3f}? {yes(good)}: {how}."
        above = sum(one > STORED[0] for one in long)
        yield (
            f"- `best`, 60 s, 2 threads: above RASA's published answer, {STORED[0]:.5f}? {yes(above == len(long))}: {above} of "
            f"{_seeds(long)}; {CEILING - median(long):.4f} below the proven ceiling {CEILING:.4f} in the median."
        )
    if short:
        how = f"{median(short):.4f} over {_seeds(short)}"
        yield f"- `best`, 10 s, one thread: median at least {QUICK:.3f}? {yes(median(short) >= QUICK)}: {how}."


def _seeds(found: Sequence[float]) -> str:
    return f"{len(found)} seed{'s' * (len(found) != 1)}"


def _soundness(measured: Sequence[Row]) -> str:
    good, every = sum(sound(row) for row in measured), len(measured)
    return f"- Does every answer place all containers and keep every rule? {yes(good == every)}: {good} of {every}."


def _in_time(measured: Sequence[Row]) -> Iterator[str]:
    late = [row for row in answered(measured) if float(row["wall"]) > float(row["seconds"])]
    if answered(measured):
        most = max(float(row["wall"]) - float(row["seconds"]) for row in answered(measured))
        tail = f"; the latest by {most:.2f} s" if late else ""
        how = f"{len(late)} of {len(answered(measured))} late{tail}"
        yield f"- Does every run end within its seconds, from the start of its process? {yes(not late)}: {how}."


def about_front(measured: Sequence[Row]) -> Iterator[str]:
    """Affinity under caps."""
    for cap, least in UNDER_CAP.items():
        rows = picked(measured, options=f"cap={cap}")
        found, moved = numbers(rows, "affinity"), numbers(rows, "moved")
        if found:
            good = min(found) >= least and max(moved) <= float(cap[:-1]) / 100
            how = f"{min(found):.4f} to {max(found):.4f} over {_seeds(found)}, {max(moved):.2%} moved at most"
            yield f"- At most {cap[:-1]} % moved: at least {least:.3f} gained? {yes(good)}: {how}."
    reached = [row for row in answered(measured) if float(row["affinity"]) >= STORED[0]]
    if reached:
        least_moved = min(float(row["moved"]) for row in reached)
        yield f"- RASA's affinity, {STORED[0]:.5f} for {STORED[1]:.1%} moved, is reached here with {least_moved:.1%} moved."
    yield _soundness(measured)


def about_clusters(measured: Sequence[Row]) -> Iterator[str]:
    """Figure 9."""
    names = list(dict.fromkeys(row["cluster"] for row in measured))
    for ours in ("rasa", "best"):
        mine = picked(measured, method=ours)
        if mine:
            yield from _ends(mine, ours)
    yield from _above(measured, "best", names)


def _above(measured: Sequence[Row], ours: str, names: Sequence[str]) -> Iterator[str]:
    lost, compared, fair = [], 0, comparable(measured).rows
    for name in names:
        mine = affinity(fair, cluster=name, method=ours)
        for other in BASELINES:
            theirs = affinity(fair, cluster=name, method=other)
            if theirs is not None:
                compared += 1
                lost += [f"{name} ({other})"] if mine is None or mine <= theirs else []
    if compared:
        said = f"not on {', '.join(lost)}" if lost else f"{compared} comparisons"
        yield f"- Is `{ours}` above every baseline on each cluster? {yes(not lost)}: {said}."


def _ends(mine: Sequence[Row], ours: str) -> Iterator[str]:
    good = all(sound(row) and float(row["wall"]) <= float(row["seconds"]) for row in mine)
    good = good and all(float(row["memory"] or 0) < MEMORY for row in mine)
    names = dict.fromkeys(row["cluster"] for row in mine)
    said = [f"{name} {_effort(picked(mine, cluster=name))}" for name in names]
    asked = "60 s with reading"
    yield f"- Does `{ours}` end within {asked}, under {MEMORY:g} GiB, valid? {yes(good)}: {'; '.join(said)}."


def _effort(mine: Sequence[Row]) -> str:
    """The most that any seed took, or why one has no answer."""
    faults = [row["fault"] for row in mine if row["fault"]]
    if faults:
        return faults[0]
    fault = "" if all(map(sound, mine)) else ", **at fault**"
    return f"{max(numbers(mine, 'wall')):.1f} s, {max(numbers(mine, 'memory'), default=0.0):.1f} GiB{fault}"
