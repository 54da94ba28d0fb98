"""Who talks to whom, and how much of it can stay on one machine."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, Placement
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.svg import rect, shortened, text, width_of
from bayplan.score.affinity import gained_shares, total_affinity

ROW, MOST_NAMES, NOTES = 22.0, 300.0, 190.0

CAPTION = (
    "The pairs of workloads with the most traffic between machines. The bar is their traffic as a share of all; "
    "the first part of it stays on one machine (their gained affinity)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two workloads that talk."""

    a: str
    b: str
    traffic: float  # share of all traffic
    local: float  # part of it that stays on one machine, 0..1

    @property
    def remote(self) -> float:
        """Share of all traffic that crosses machines because of this pair."""
        return self.traffic * (1 - self.local)


def chatty_pairs(cluster: Cluster, placement: Placement, top: int = 12) -> list[Pair]:
    """The pairs with the most traffic between machines, worst first; ties as in the file."""
    total = total_affinity(cluster)
    if not total:
        return []
    local = gained_shares(cluster, placement)
    remote = cluster.traffic.weight * (1 - local)
    worst = np.argsort(-remote, kind="stable")[:top]
    name, edges = cluster.workloads.name, cluster.traffic
    return [
        Pair(a=name[edges.a[e]], b=name[edges.b[e]], traffic=float(edges.weight[e]) / total, local=float(local[e]))
        for e in worst.tolist()
        if remote[e] > 0
    ]


def traffic_bars(cluster: Cluster, placement: Placement, *, width: int = 1120, top: int = 12) -> str:
    """One bar per pair with the most traffic between machines, as an SVG document."""
    pairs = chatty_pairs(cluster, placement, top)
    words, y = caption("Who talks across machines?", CAPTION if pairs else "No traffic between machines.", width)
    longest = max((pair.traffic for pair in pairs), default=1.0)
    names = min(MOST_NAMES, max((width_of(f"{pair.a} – {pair.b}") for pair in pairs), default=0.0) + 12)
    scale = (width - LEFT - names - NOTES) / longest
    rows = [_bar(pair, (LEFT + names, y + 34 + k * ROW), scale, names) for k, pair in enumerate(pairs)]
    key = _key(LEFT + names, y + 8) if pairs else ""
    title = f"Traffic between workloads of {cluster.name}"
    return svg.document(width, y + 42 + ROW * len(pairs), title, CAPTION, "".join([words, key, *rows]))


def _key(x: float, y: float) -> str:
    local = rect(x, y, 11, 11, "local") + text(x + 17, y + 10, "stays on one machine", "soft small")
    return local + rect(x + 170, y, 11, 11, "remote") + text(x + 187, y + 10, "crosses machines", "soft small")


def _bar(pair: Pair, at: tuple[float, float], scale: float, room: float) -> str:
    (left, y), names = at, f"{pair.a} – {pair.b}"
    words = f"{names}: {percent(pair.traffic)} of all traffic, {percent(pair.local)} of it local"
    local, remote = pair.traffic * pair.local * scale, pair.remote * scale
    return "".join(
        [
            text(left - 12, y + 13, shortened(names, room), "end"),
            rect(left, y + 2, local, ROW - 6, "local", words),
            rect(left + local, y + 2, remote, ROW - 6, "remote", words),
            text(
                left + local + remote + 8,
                y + 13,
                f"{percent(pair.traffic)} of traffic, {percent(pair.local)} local",
                "soft small",
            ),
        ]
    )
