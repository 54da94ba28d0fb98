"""Is the combined plan best on the stated total, and near to each method of one goal on that goal? With the numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from experiments.combined.settings import ALL, BEST, CAPS, LOCAL, PACK, RASA, START, SWEEP
from experiments.combined.tables import CLUSTERS, NAMES, stated_total
from experiments.results import Row, picked, table
from experiments.verdicts import yes

NEAR = 0.10
OURS = "plan"
HEAD = (
    "cluster",
    "at most",
    "best on the stated total",
    "next best",
    *(f"near {name}" for name in ("best", "rasa", "local traffic alone", "sweep-search")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnGoal:
    """What a method of one goal is about."""

    method: str
    column: str
    more: bool  # is more of it better?

    def near(self, ours: float, theirs: float) -> bool:
        """Is ours at most a tenth worse than theirs?"""
        return ours >= (1 - NEAR) * theirs if self.more else ours <= (1 + NEAR) * theirs


OWN = (
    OwnGoal(method=BEST, column="local", more=True),
    OwnGoal(method=RASA, column="local", more=True),
    OwnGoal(method=LOCAL, column="local", more=True),
    OwnGoal(method=SWEEP, column="paper", more=False),
)


def claim_lines(measured: Sequence[Row]) -> list[str]:
    """The table of verdicts, how many hold, and what packing gives for its moves; nothing if nothing was measured."""
    answered = [row for row in measured if not row["fault"]]
    body = [_verdicts(answered, cluster, cap) for cluster in CLUSTERS for cap in CAPS if _of(answered, cluster, OURS, cap)]
    if not body:
        return []
    total = table(HEAD[:4], [line[:4] for line in body])
    own = table((*HEAD[:2], *HEAD[4:]), [[*line[:2], *line[4:]] for line in body])
    return [*total, "", *own, "", *_counted(body), *_packing(answered)]


def _verdicts(answered: Sequence[Row], cluster: str, cap: str) -> list[str]:
    ours = _of(answered, cluster, OURS, cap)
    return [cluster, cap.replace("%", " %"), *_best(answered, ours, cluster, cap), *(_near(answered, ours, own) for own in OWN)]


def rank(row: Row) -> tuple[float, float, float]:
    """What is compared first, second and third; less is better."""
    return float(row["violated"]), float(row["unplaced"]), float(row["total_steady"])


def _best(answered: Sequence[Row], ours: Sequence[Row], cluster: str, cap: str) -> list[str]:
    """Is it best in every seed in which others were measured, too? And which other comes next, with both totals."""
    others = [row for row in picked(answered, cluster=cluster, cap=cap) if not row["method"].startswith(OURS)]
    seeds = {row["seed"] for row in others}
    mine = [row for row in ours if row["seed"] in seeds]
    if not mine:
        return ["-", "-"]
    wins = [all(rank(row) <= rank(other) for other in others if other["seed"] == row["seed"]) for row in mine]
    second = min(sorted({row["method"] for row in others}), key=lambda method: _middle(picked(others, method=method)))
    found = f"{yes(all(wins))} ({sum(wins)} of {len(wins)} seeds): {stated_total(mine)}"
    return [found, f"{NAMES[second]}: {stated_total(picked(others, method=second))}"]


def _middle(some: Sequence[Row]) -> tuple[float, ...]:
    return tuple(median(each) for each in zip(*map(rank, some), strict=True))


def _near(answered: Sequence[Row], ours: Sequence[Row], own: OwnGoal) -> str:
    """Ours beside theirs, medians over the seeds that both have, and how much of their gain over the start ours has."""
    theirs = _of(answered, ours[0]["cluster"], own.method, ours[0]["cap"])
    seeds = {row["seed"] for row in ours} & {row["seed"] for row in theirs}
    if not seeds:
        return "-"
    mine, other = (median(float(row[own.column]) for row in some if row["seed"] in seeds) for some in (ours, theirs))
    start = [float(row[own.column]) for row in _of(answered, ours[0]["cluster"], START, ALL)]
    gained = f" ({(mine - start[0]) / (other - start[0]):.0%})" if start and other != start[0] else ""
    return f"{yes(own.near(mine, other))}: {mine:.3f}, {other:.3f}{gained}"


def _counted(body: Sequence[Sequence[str]]) -> Iterator[str]:
    """How many cells of each claim hold."""
    for number, about in (
        (2, "best on the stated total"),
        (4, f"near `{BEST}`"),
        (5, f"near `{RASA}`"),
        (6, f"near `{LOCAL}`"),
        (7, f"near `{SWEEP}`"),
    ):
        said = [line[number] for line in body if line[number] != "-"]
        if said:
            yield f"- {about}: {sum(text.startswith('yes') for text in said)} of {len(said)} hold."


def _packing(answered: Sequence[Row]) -> Iterator[str]:
    """Fewer machines, and what for: not at the same number of moves, as it packs everything anew."""
    for cluster in CLUSTERS:
        now, packed = _of(answered, cluster, START, ALL), _of(answered, cluster, PACK, ALL)
        if now and packed:
            start, end = now[0], packed[0]
            moved = float(end["moved"]) / float(end["containers"])
            numbers = [f"local traffic {_from_to(start, end, 'local')}", f"variance {_from_to(start, end, 'variance')}"]
            machines = f"{float(start['machines']):,.0f} to {float(end['machines']):,.0f} machines"
            order = "can be ordered" if end["migrated"] == "yes" else "cannot be ordered"
            yield f"- {cluster}, `{PACK}`: {machines}, {moved:.0%} moved, {', '.join(numbers)}; {order}."


def _from_to(start: Row, end: Row, column: str) -> str:
    return f"{float(start[column]):.3f} to {float(end[column]):.3f}"


def _of(answered: Sequence[Row], cluster: str, method: str, cap: str) -> list[Row]:
    return picked(answered, cluster=cluster, method=method, cap=cap)
