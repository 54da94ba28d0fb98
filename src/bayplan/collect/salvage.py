"""The well-shaped part of a document, so that its other faults are found in the same run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bayplan.collect.shape import Schema, did_you_mean, misshapen
from bayplan.collect.subject import Path
from bayplan.errors import Fault

ITEM = 2  # steps from the top of a document to an item of one of its lists
Cut: TypeAlias = Callable[[Path], Path]  # the place of a fault -> what is left out for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvage:
    """A document without what is wrong with it; the document itself if nothing is."""

    document: Any
    left_out: frozenset[Path] = frozenset()  # places in the whole document
    position: Mapping[Path, Sequence[int]] = field(default_factory=dict)  # list -> where each item that is left stood
    misspelt: frozenset[str] = frozenset()  # keys left out that the schema does not know

    def lacks(self, *keys: str) -> bool:
        """May one of these keys of the document have had more items than are left?"""
        if any(path[0] in keys and len(path) <= ITEM for path in self.left_out):
            return True
        absent = [key for key in keys if key not in self.document]
        return any(did_you_mean(word, absent) for word in self.misspelt)

    def original(self, path: Path) -> Path:
        """Where in the whole document a place of this part stands."""
        if not self.position:
            return path
        return tuple(
            self.position[path[:depth]][step] if isinstance(step, int) and path[:depth] in self.position else step
            for depth, step in enumerate(path)
        )


def item(path: Path) -> Path:
    """The item of a list, or the member of an object, that stands under a key of the document."""
    return path[:ITEM]


def well_shaped(document: object, schema: Schema, cut: Cut = item) -> tuple[list[Fault], Salvage | None]:
    """The faults of shape, and the part that has none; no part if too little of the document is left."""
    places = misshapen(document, schema)
    return [fault for _, fault in places], salvaged(document, schema, [path for path, _ in places], cut)


def salvaged(document: object, schema: Schema, places: Iterable[Path], cut: Cut = item) -> Salvage | None:
    """`document` without what holds the faults at `places`; None if what is left is no such document."""
    left_out = frozenset(cut(path) for path in places)
    if not left_out:
        return Salvage(document=document)
    if () in left_out:
        return None
    position: dict[Path, list[int]] = {}
    left = _without(document, _tree(left_out), position, ())
    misspelt = frozenset(str(path[0]) for path in left_out if path[0] not in schema.get("properties", path))
    return None if misshapen(left, schema) else Salvage(document=left, left_out=left_out, position=position, misspelt=misspelt)


_Tree: TypeAlias = dict[str | int, "_Tree | None"]  # a step -> what to leave out below it; None: all of it


def _tree(paths: Iterable[Path]) -> _Tree:
    root: _Tree = {}
    for path in sorted(paths, key=len):  # whole things first: what lies inside of them is gone with them
        node: _Tree | None = root
        for step in path[:-1]:
            if node is not None:
                node = node.setdefault(step, {})
        if node is not None:
            node[path[-1]] = None
    return root


def _without(node: Any, tree: _Tree, position: dict[Path, list[int]], at: Path) -> Any:
    if isinstance(node, dict):
        kept = {step: member for step, member in node.items() if tree.get(step, node) is not None}
        return {step: _inside(member, tree.get(step), position, (*at, step)) for step, member in kept.items()}
    if not isinstance(node, list):
        return node
    position[at] = [index for index in range(len(node)) if tree.get(index, node) is not None]
    return [_inside(node[index], tree.get(index), position, (*at, place)) for place, index in enumerate(position[at])]


def _inside(node: Any, tree: _Tree | None, position: dict[Path, list[int]], at: Path) -> Any:
    return node if tree is None else _without(node, tree, position, at)
