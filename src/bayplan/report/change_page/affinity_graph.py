"""The affinity graph: workloads that talk, and how much of their traffic is local, before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.markup import paragraph, tag
from bayplan.report.names import told_apart
from bayplan.report.page import asset
from bayplan.report.svg import characters_in, element, number, text, width_of
from bayplan.score.affinity import gained_affinity, gained_shares, total_affinity
from bayplan.words import count

HEAVIEST, CHANGED = 24, 8  # edges: by traffic, and by how much more or less of it is local
WIDE, TALL = 560.0, 420.0
EDGE_X, EDGE_Y = 84.0, 22.0  # pixels kept free around the nodes, for their names
ROUNDS, GRAVITY = 400, 0.8  # of the layout; the pull to the centre
THICKEST, LARGEST = 15.0, 13.0  # the heaviest edge, the radius of the busiest node
NAME = 92.0  # pixels for a name

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
OUTSIDE: tuple[Box, ...] = ((-999.0, -999.0, 0.0, 999.0), (WIDE, -999.0, 9999.0, 999.0))  # where no name may stand

CAPTION = (
    "Each circle is a workload, each line the traffic between two of them: the wider, the more. The blue part of a line is "
    "local, which means that it stays on one machine; the grey part crosses machines. Point at a line to read it."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnGraph:
    """Some of the edges, and where their workloads are drawn."""

    workload: IntArray  # (node,)
    traffic: FloatArray  # (node,) share of all traffic
    x: FloatArray  # (node,) 0..1
    y: FloatArray  # (node,) 0..1
    a: IntArray  # (edge,) node
    b: IntArray  # (edge,) node
    weight: FloatArray  # (edge,) share of all traffic
    before: FloatArray  # (edge,) local share of it
    after: FloatArray  # (edge,)


def affinity_graph(cluster: Cluster, before: Placement, after: Placement) -> DrawnGraph:
    """The heaviest edges, and those of which most becomes local or stops to be. Deterministic."""
    edges, total = cluster.traffic, total_affinity(cluster)
    old, new = gained_shares(cluster, before), gained_shares(cluster, after)
    changed = np.argsort(-edges.weight * np.abs(new - old), kind="stable")[:CHANGED]
    changed = changed[np.abs(new - old)[changed] > 0]
    shown = np.unique(np.r_[np.argsort(-edges.weight, kind="stable")[:HEAVIEST], changed])
    workload, ends = np.unique(np.r_[edges.a[shown], edges.b[shown]], return_inverse=True)
    a, b = ends[: len(shown)], ends[len(shown) :]
    weight = edges.weight[shown] / total if total else edges.weight[shown]
    x, y = layout(len(workload), ints(a), ints(b), floats(weight))
    return DrawnGraph(
        workload=ints(workload),
        traffic=floats(np.bincount(np.r_[a, b], weights=np.r_[weight, weight], minlength=len(workload))),
        x=x,
        y=y,
        a=ints(a),
        b=ints(b),
        weight=floats(weight),
        before=floats(old[shown]),
        after=floats(new[shown]),
    )


def layout(nodes: int, a: IntArray, b: IntArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where nodes stand in the unit square: forces that keep nodes apart and pull the ends of edges together.

    Fruchterman and Reingold (1991) with a pull to the centre, from a spiral: the same graph is always drawn the same way.
    """
    angle = np.arange(nodes) * 2.399963  # the golden angle: no two nodes start at one place
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt((np.arange(nodes) + 0.5) / max(1, nodes))[:, None]
    ideal = 1.3 / np.sqrt(max(1, nodes))
    pull = 0.5 + 0.5 * weight / weight.max(initial=1e-300)
    for step in range(ROUNDS):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(1e-3, np.hypot(apart[..., 0], apart[..., 1]))
        force = (apart * (ideal / distance)[..., None] ** 2).sum(axis=1)
        along = at[b] - at[a]
        drawn = along * (pull * np.hypot(along[:, 0], along[:, 1]) / ideal)[:, None]
        np.add.at(force, a, drawn)
        np.add.at(force, b, -drawn)
        force -= GRAVITY * at
        size = np.maximum(1e-9, np.hypot(force[:, 0], force[:, 1]))
        at = at + force / size[:, None] * np.minimum(size, 0.12 * (1 - step / ROUNDS))[:, None]
    return _stretched(at[:, 0]), _stretched(at[:, 1])


def _stretched(value: FloatArray) -> FloatArray:
    least, most = value.min(initial=np.inf), value.max(initial=-np.inf)
    return floats((value - least) / (most - least) if most > least else np.full(len(value), 0.5))


def graph_section(cluster: Cluster, before: Placement, after: Placement) -> str:
    """The graph twice, before and after, with the same nodes at the same places."""
    graph = affinity_graph(cluster, before, after)
    panels = [
        tag("div", tag("h3", words), svg.document(WIDE, TALL, words, CAPTION, body, role="group"))
        for words, body in _both(cluster, graph, before, after)
    ]
    return paragraph(f"{CAPTION}{_which(cluster, graph)}", "soft") + tag("div", *panels, class_="pair graphs")


def graph_picture(cluster: Cluster, before: Placement, after: Placement) -> str:
    """The same as one SVG document that needs nothing else."""
    graph = affinity_graph(cluster, before, after)
    style = tag("style", asset("change_page/assets/graph.css"))
    halves = [
        element(
            "g", text(16.0, 22.0, words, "head"), element("g", body, transform="translate(0 30)"), transform=f"translate({k} 0)"
        )
        for k, (words, body) in zip((0, int(WIDE)), _both(cluster, graph, before, after), strict=True)
    ]
    return svg.document(2 * WIDE, TALL + 40, "Traffic between workloads, before and after", CAPTION, "".join([style, *halves]))


def _which(cluster: Cluster, graph: DrawnGraph) -> str:
    edges = len(cluster.traffic.a)
    words = f" Shown are {count(len(graph.a), 'pair')} of {edges:,}: those with most traffic and those that change most."
    return words if len(graph.a) < edges else ""


def _both(cluster: Cluster, graph: DrawnGraph, before: Placement, after: Placement) -> list[tuple[str, str]]:
    """Words and drawing of each half."""
    shares = (percent(gained_affinity(cluster, placement)) for placement in (before, after))
    titles = (f"{when}: {share} of all traffic is local" for when, share in zip(("Before", "After"), shares, strict=True))
    return [(title, _drawn(cluster, graph, local)) for title, local in zip(titles, (graph.before, graph.after), strict=True)]


def _drawn(cluster: Cluster, graph: DrawnGraph, local: FloatArray) -> str:
    x, y = EDGE_X + graph.x * (WIDE - 2 * EDGE_X), EDGE_Y + graph.y * (TALL - 2 * EDGE_Y)
    order = np.argsort(-graph.weight, kind="stable").tolist()
    lines = [_edge(cluster, graph, e, (x, y), float(local[e])) for e in order]
    names = told_apart([cluster.workloads.name[w] for w in graph.workload.tolist()], characters_in(NAME, 11))
    radius = 4 + (LARGEST - 4) * np.sqrt(graph.traffic / graph.traffic.max(initial=1e-300))
    labels = label_places(names, x, y, floats(radius))
    nodes = [
        _node(cluster, int(w), text(left, below, name, f"small {anchor} ringed"), (float(x[k]), float(y[k]), float(radius[k])))
        for k, (w, name, (left, below, anchor)) in enumerate(zip(graph.workload.tolist(), names, labels, strict=True))
    ]
    return "".join([*lines, *nodes])


def _edge(cluster: Cluster, graph: DrawnGraph, e: int, at: tuple[FloatArray, FloatArray], local: float) -> str:
    (x, y), (a, b) = at, (int(graph.a[e]), int(graph.b[e]))
    wide = 1.5 + (THICKEST - 1.5) * float(graph.weight[e] / graph.weight.max())
    ends = {"x1": float(x[a]), "y1": float(y[a]), "x2": float(x[b]), "y2": float(y[b])}
    names = [cluster.workloads.name[graph.workload[k]] for k in (a, b)]
    words = (
        f"{names[0]} – {names[1]}: {percent(float(graph.weight[e]))} of all traffic\n"
        f"local: {percent(float(graph.before[e]))} before, {percent(float(graph.after[e]))} after"
    )
    return element(
        "g",
        element("line", **ends, class_="edge", stroke_width=number(wide)),
        element("line", **ends, class_="near", stroke_width=number(max(0.75, wide * local))) if local > 0 else "",
        element("line", **ends, class_="reach", stroke_width="14"),
        class_="tie",
        tabindex="0",
        role="img",
        aria_label=words.replace("\n", "; "),
        data_tip=words,
        data_e=e,
        data_w=" ".join(str(graph.workload[k]) for k in (a, b)),
    )


def label_places(names: Sequence[str], x: FloatArray, y: FloatArray, radius: FloatArray) -> list[tuple[float, float, str]]:
    """Where names stand, and their anchors: beside, below or above their nodes, wherever they cover least of the others."""
    taken = [(float(a - r), float(b - r), float(a + r), float(b + r)) for a, b, r in zip(x, y, radius, strict=True)]
    places: dict[int, tuple[float, float, str]] = {}
    for k in np.argsort(-radius, kind="stable").tolist():
        wide, beside, below = width_of(names[k], 11), radius[k] + 5, radius[k] + 13
        options = {
            (x[k] + beside, y[k] + 4, ""): x[k] + beside,
            (x[k] - beside, y[k] + 4, "end"): x[k] - beside - wide,
            (x[k], y[k] + below, "mid"): x[k] - wide / 2,
            (x[k], y[k] - below + 8, "mid"): x[k] - wide / 2,
        }
        boxes = {option: (left, option[1] - 10, left + wide, option[1] + 2) for option, left in options.items()}
        best = min(boxes, key=lambda option: sum(_shared_area(boxes[option], other) for other in [*taken, *OUTSIDE]))
        places[k] = (float(best[0]), float(best[1]), best[2])
        taken.append(boxes[best])
    return [places[k] for k in range(len(names))]


def _shared_area(one: Box, other: Box) -> float:
    wide, tall = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, tall)


def _node(cluster: Cluster, w: int, name: str, at: tuple[float, float, float]) -> str:
    x, y, radius = at
    words = f"{cluster.workloads.name[w]}\n{count(int(cluster.replicas[w]), 'container')}"
    return element("g", element("circle", cx=x, cy=y, r=radius, class_="node"), name, class_="spot", data_tip=words, data_w=w)
