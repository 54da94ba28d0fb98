"""Which colour is which service, and the facts a picture should not hide."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from bayplan.model import Cluster, IntArray, Placement
from bayplan.report.loads import MachineUse
from bayplan.report.names import told_apart
from bayplan.report.pictures.colours import GREYS, OWN, TIER_CLASS, TIERS, Palette
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData
from bayplan.report.svg import characters_in, element, escaped, rect, shortened, text, width_of
from bayplan.words import count

ROW = 20.0
_SWATCH = 11.0
_LONGEST = 170.0
Item: TypeAlias = tuple[tuple[str, ...], str, str]  # classes of the swatches, name, note


def service_legend(
    cluster: Cluster, palette: Palette, *, left: float, top: float, space: float, tiers: bool = False
) -> tuple[str, float]:
    """One swatch, name and number of containers per coloured service, then the greys; also the height it takes."""
    size = np.bincount(cluster.workloads.service[cluster.containers.workload], minlength=len(cluster.services.name))
    own = [s for s in palette.own.tolist() if size[s]]
    items: list[Item] = [((f"s{palette.colour[s]}",), cluster.services.name[s], f"{size[s]:,}") for s in own]
    items += _tiers(palette, size) if tiers else _others(cluster, palette, size)
    return _flow(items, left, top, space)


def _others(cluster: Cluster, palette: Palette, size: IntArray) -> list[Item]:
    others = np.flatnonzero((palette.colour >= OWN) & (size > 0)).tolist()
    if len(others) <= GREYS:
        return [((f"s{palette.colour[s]}",), cluster.services.name[s], f"{size[s]:,}") for s in others]
    return [(tuple(f"s{OWN + k}" for k in range(GREYS)), f"{len(others):,} other services", f"{size[others].sum():,}")]


def _tiers(palette: Palette, size: IntArray) -> list[Item]:
    of = [size[palette.tier == OWN + k] for k in range(len(TIERS))]
    return [((TIER_CLASS[k],), name, f"{of[k].sum():,}") for k, (_, name) in enumerate(TIERS) if of[k].sum()]


def resource_legend(data: BayPlanData, *, left: float, top: float) -> tuple[str, float]:
    """Which mark below a column is which resource; nothing if all machines run out of the same one."""
    fullest = np.unique(data.use.fullest[data.use.containers > 0]).tolist()
    if len(fullest) < 2:
        return "", 0.0
    parts, x = [text(left, top + 10, "Fullest in:", "soft small")], left + 72
    for r in fullest:
        name = shortened(data.cluster.resources[r].name, _LONGEST, 11)
        parts += [rect(x, top + 4, 16, 4, f"k{r % 4}"), text(x + 22, top + 10, name, "small")]
        x += 22 + width_of(name, 11) + 18
    return "".join(parts), ROW + 4


def _flow(items: Sequence[Item], left: float, top: float, space: float) -> tuple[str, float]:
    parts, x, y = [], left, top
    names = told_apart([name for _, name, _ in items], characters_in(_LONGEST))
    for (classes, name, note), shown in zip(items, names, strict=True):
        taken = len(classes) * (_SWATCH + 1) + 6 + width_of(shown) + 6 + width_of(note, 11) + 20
        if x > left and x + taken > left + space:
            x, y = left, y + ROW
        parts.append(_item(classes, name, shown, note, x, y))
        x += taken
    return "".join(parts), (y - top + ROW) if items else 0.0


def _item(classes: tuple[str, ...], name: str, shown: str, note: str, x: float, y: float) -> str:
    swatches = "".join(rect(x + k * (_SWATCH + 1), y, _SWATCH, _SWATCH, class_) for k, class_ in enumerate(classes))
    at = x + len(classes) * (_SWATCH + 1) + 5
    count_beside = element("tspan", escaped(note), dx=5, class_="soft small")
    label = element("text", escaped(shown), count_beside, x=at, y=y + 10)
    focus = {"data_s": classes[0]} if len(classes) == 1 else {}
    title = element("title", escaped(f"{name}: {note} containers")) if shown != name else ""
    return element("g", title, swatches, label, class_="key", **focus)


def state_words(use: MachineUse, placement: Placement, cluster: Cluster) -> str:
    """What a reader should not miss: the one resource that binds, machines over safety and capacity, unplaced containers."""
    full, hot, out = int(use.full.sum()), int(use.hot.sum()), len(placement.unplaced)
    fullest = np.unique(use.fullest[use.containers > 0])
    same = len(cluster.resources) > 1 and len(fullest) == 1
    words = [
        f"The fullest resource is {cluster.resources[int(fullest[0])].name} everywhere." if same else "",
        f"{count(full, 'machine')} over capacity." if full else "",
        f"{count(hot, 'machine')} over safety." if hot else "",
        f"{count(out, 'container')} without a machine." if out else "",
    ]
    return " ".join(filter(None, words))
