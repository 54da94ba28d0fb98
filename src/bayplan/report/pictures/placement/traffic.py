"""Traffic between workloads: which pairs talk across machines, and how much stays on one machine, before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, Placement
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.names import name_of, told_apart
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.svg import characters_in, rect, text, width_of
from bayplan.score.affinity import gained_shares, total_affinity
from bayplan.score.counts import placed_replicas

ROW, MOST_NAMES, NOTES = 22.0, 300.0, 190.0
ROUNDING = 1e-12

CAPTION = (
    "The pairs of workloads with the most traffic between machines. The bar is their traffic as a share of all; "
    "the first part of it stays on one machine (their gained affinity)."
)
PARTS = (("local", "stays on one machine"), ("remote", "crosses machines"), ("idle", "does not run"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficPair:
    """Two workloads that talk."""

    a: str
    b: str
    traffic: float  # share of all traffic
    local: float  # part of it that stays on one machine, 0..1
    idle: float = 0.0  # part of it that does not flow, since containers of the pair do not run, 0..1

    @property
    def remote(self) -> float:
        """Part of it that crosses machines, 0..1."""
        return max(0.0, 1 - self.local - self.idle)

    @property
    def words(self) -> str:
        """'12 % of all traffic, 40 % of it crosses machines'."""
        idle = f", {percent(self.idle)} does not run" if self.idle else ""
        return f"{percent(self.traffic)} of all traffic, {percent(self.remote)} of it crosses machines{idle}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairGain:
    """Two workloads that talk, before and after."""

    a: str
    b: str
    traffic: float  # share of all traffic
    before: float  # part of it that stays on one machine, 0..1
    after: float


def chatty_pairs(cluster: Cluster, placement: Placement, top: int = 12) -> list[TrafficPair]:
    """The pairs with the most traffic between machines, worst first; ties as in the file.

    Of a pair's traffic as much runs as of the workload that has the smaller part of its replicas placed.
    """
    total, edges, name = total_affinity(cluster), cluster.traffic, cluster.workloads.name
    if not total:
        return []
    placed = placed_replicas(cluster, placement) / np.maximum(1, cluster.replicas)
    running = np.minimum(placed[edges.a], placed[edges.b])
    local = np.minimum(running, gained_shares(cluster, placement))
    remote = edges.weight * np.where(running - local > ROUNDING, running - local, 0.0)
    return [
        TrafficPair(
            a=name[edges.a[e]],
            b=name[edges.b[e]],
            traffic=float(edges.weight[e]) / total,
            local=float(local[e]),
            idle=float(1 - running[e]),
        )
        for e in np.argsort(-remote, kind="stable")[:top].tolist()
        if remote[e] > ROUNDING * total
    ]


def traffic_bars(cluster: Cluster, placement: Placement, *, width: int = 1120, top: int = 12) -> str:
    """One bar per pair with the most traffic between machines, as an SVG document."""
    pairs = chatty_pairs(cluster, placement, top)
    words, y = caption("Which workloads talk across machines?", CAPTION if pairs else "No traffic between machines.", width)
    longest = max((pair.traffic for pair in pairs), default=1.0)
    labels = _labels(pairs)
    names = max(map(width_of, labels), default=0.0) + 12
    scale = (width - LEFT - names - NOTES) / longest
    at = [(LEFT + names, y + 34 + k * ROW) for k in range(len(pairs))]
    rows = [_bar(pair, label, place, scale) for pair, label, place in zip(pairs, labels, at, strict=True)]
    parts = PARTS if any(pair.idle for pair in pairs) else PARTS[:2]
    key = _key(parts, LEFT + names, y + 8, 170) if pairs else ""
    title = f"Traffic between workloads of {name_of(cluster)}"
    return svg.document(width, y + 42 + ROW * len(pairs), title, CAPTION, "".join([words, key, *rows]))


def _labels(pairs: Sequence[TrafficPair]) -> list[str]:
    """Both names of every pair; long ones are shortened so that they can still be told apart."""
    full = [f"{pair.a} – {pair.b}" for pair in pairs]
    if all(width_of(label) <= MOST_NAMES for label in full):
        return full
    short = told_apart([name for pair in pairs for name in (pair.a, pair.b)], (characters_in(MOST_NAMES) - 3) // 2)
    return [f"{a} – {b}" for a, b in zip(short[::2], short[1::2], strict=True)]


def _key(parts: Sequence[tuple[str, str]], x: float, y: float, apart: float) -> str:
    """Which part of a bar is which: (class, words), side by side."""
    swatches = (rect(x + apart * k, y, 11, 11, class_) for k, (class_, _) in enumerate(parts))
    names = (text(x + apart * k + 17, y + 10, words, "soft small") for k, (_, words) in enumerate(parts))
    return "".join([*swatches, *names])


def _bar(pair: TrafficPair, label: str, at: tuple[float, float], scale: float) -> str:
    (left, y), words = at, f"{pair.a} – {pair.b}: {pair.words}"
    parts, x = [text(left - 12, y + 13, label, "end")], left
    for class_, part in (("local", pair.local), ("remote", pair.remote), ("idle", pair.idle)):
        if part > 0:
            parts.append(rect(x, y + 2, pair.traffic * part * scale, ROW - 6, class_, words))
            x += pair.traffic * part * scale
    note = f"{percent(pair.traffic)} of traffic, {percent(pair.local)} local"
    return "".join([*parts, text(x + 8, y + 13, note, "soft small")])


def heaviest_pairs(cluster: Cluster, before: Placement, after: Placement, top: int) -> list[PairGain]:
    """The pairs with the most traffic, heaviest first; ties as in the file."""
    total, edges, name = total_affinity(cluster), cluster.traffic, cluster.workloads.name
    old, new = gained_shares(cluster, before), gained_shares(cluster, after)
    return [
        PairGain(
            a=name[edges.a[e]],
            b=name[edges.b[e]],
            traffic=float(edges.weight[e]) / total,
            before=float(old[e]),
            after=float(new[e]),
        )
        for e in np.argsort(-edges.weight, kind="stable")[:top].tolist()
    ]
