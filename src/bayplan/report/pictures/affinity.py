"""How much of the heaviest traffic stays on one machine, before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, Placement
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.names import name_of, told_apart
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.svg import characters_in, rect, text, width_of
from bayplan.score.affinity import gained_affinity, gained_shares, total_affinity

ROW, BAR, MOST_NAMES, NOTES = 26.0, 8.0, 300.0, 290.0
TOP = 15

CAPTION = (
    "The pairs of workloads with the most traffic. The pale bar is a pair's share of all traffic, the other two the part of it "
    "that can stay on one machine (its gained affinity). The first line is all traffic together, on a scale of its own."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Two workloads that talk, before and after."""

    a: str
    b: str
    traffic: float  # share of all traffic
    before: float  # part of it that stays on one machine, 0..1
    after: float

    @property
    def words(self) -> str:
        """'4.1 % of traffic: 12 % local before, 97 % after'."""
        return f"{percent(self.traffic)} of traffic: {percent(self.before)} local before, {percent(self.after)} after"


def heaviest_edges(cluster: Cluster, before: Placement, after: Placement, top: int = TOP) -> list[Edge]:
    """The pairs with the most traffic, heaviest first; ties as in the file."""
    total, edges, name = total_affinity(cluster), cluster.traffic, cluster.workloads.name
    old, new = gained_shares(cluster, before), gained_shares(cluster, after)
    return [
        Edge(
            a=name[edges.a[e]],
            b=name[edges.b[e]],
            traffic=float(edges.weight[e]) / total,
            before=float(old[e]),
            after=float(new[e]),
        )
        for e in np.argsort(-edges.weight, kind="stable")[:top].tolist()
    ]


def affinity_bars(cluster: Cluster, before: Placement, after: Placement, *, width: int = 1120, top: int = TOP) -> str:
    """One line for all traffic and one for each of the heaviest pairs, before above after, as an SVG document."""
    edges = heaviest_edges(cluster, before, after, top)
    title = f"Gained affinity of {name_of(cluster)} before and after"
    head, y = caption("How much traffic stays on one machine?", CAPTION if edges else "No traffic between workloads.", width)
    if not edges:
        return svg.document(width, y + 12, title, CAPTION, head)
    whole = Edge(
        a="all traffic", b="", traffic=1.0, before=gained_affinity(cluster, before), after=gained_affinity(cluster, after)
    )
    labels = ["all traffic", *_labels(edges)]
    left = LEFT + max(map(width_of, labels)) + 12
    room, longest = width - left - NOTES, edges[0].traffic
    at = [y + 36 + k * ROW + (8 if k else 0) for k in range(len(labels))]
    rows = [
        _row(edge, label, (left, top_of), room / (longest if k else 1.0))
        for k, (edge, label, top_of) in enumerate(zip([whole, *edges], labels, at, strict=True))
    ]
    return svg.document(width, at[-1] + ROW + 12, title, CAPTION, "".join([head, _key(left, y + 8), *rows]))


def _labels(edges: Sequence[Edge]) -> list[str]:
    """Both names of every pair; long ones are shortened so that they can still be told apart."""
    whole = [f"{edge.a} – {edge.b}" for edge in edges]
    if all(width_of(label) <= MOST_NAMES for label in whole):
        return whole
    short = told_apart([name for edge in edges for name in (edge.a, edge.b)], (characters_in(MOST_NAMES) - 3) // 2)
    return [f"{a} – {b}" for a, b in zip(short[::2], short[1::2], strict=True)]


def _key(x: float, y: float) -> str:
    parts = (("k1", "local before"), ("local", "local after"), ("h1", "all traffic of the pair"))
    swatches = (rect(x + 120 * k, y, 11, 11, class_) for k, (class_, _) in enumerate(parts))
    return "".join([*swatches, *(text(x + 120 * k + 17, y + 10, words, "soft small") for k, (_, words) in enumerate(parts))])


def _row(edge: Edge, label: str, at: tuple[float, float], scale: float) -> str:
    (left, y), wide = at, edge.traffic * scale
    tip = f"{label}: {edge.words}"
    bars = [
        rect(left, y + BAR * k + 1, wide * part, BAR - 1, class_, tip)
        for k, (part, class_) in enumerate(((edge.before, "k1"), (edge.after, "local")))
        if part > 0
    ]
    note = edge.words if edge.b else f"{percent(edge.before)} local before, {percent(edge.after)} after"
    return "".join(
        [
            text(left - 12, y + 13, label, "end" if edge.b else "end strong"),
            rect(left, y, wide, 2 * BAR + 1, "h1", tip),
            *bars,
            text(left + wide + 8, y + 13, note, "soft small"),
        ]
    )
