"""The well-shaped part of a document, so that its other faults are found in the same run.

`without_faults` leaves out whole items. `repaired` leaves out as little as possible: a wrong number, an unknown key; and it
puts something harmless where something is needed. Then nothing may be said that depends on what was changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from bayplan.errors import Fault, did_you_mean
from bayplan.formats.document.location import NAME_KEYS, Path
from bayplan.formats.document.quick_shape import Schema
from bayplan.formats.document.schemas import NOTHING
from bayplan.formats.document.shape import Misfit, misfits, misshapen

MOST_ROUNDS = 20  # of mending; each goes one level up at most
EMPTY = "E1111"
ITEM = 2  # steps from the top of a document to an item of one of its lists
Cut: TypeAlias = Callable[[Path], Path]  # the place of a fault -> what is left out for it


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialDocument:
    """A document without what is wrong with it; the document itself if nothing is."""

    document: Any
    left_out: frozenset[Path] = frozenset()  # places in the whole document
    position: Mapping[Path, Sequence[int]] = field(default_factory=dict)  # list -> where each item that is left stood
    misspelt: frozenset[str] = frozenset()  # keys left out that the schema does not know
    around: frozenset[Path] = frozenset()  # every place in which something was left out or replaced

    def lacks(self, *keys: str) -> bool:
        """May one of these keys of the document have had more items than are left?"""
        if any(path[0] in keys and len(path) <= ITEM for path in self.left_out):
            return True
        absent = [key for key in keys if key not in self.document]
        return any(did_you_mean(word, absent) for word in self.misspelt)

    def lacks_inside(self, key: str, member: str) -> bool:
        """May an item under `key` have had another `member`? So if that was changed, or a key that sounds like it."""
        inside = {str(path[2]) for path in self.around if len(path) == ITEM + 1 and path[0] == key}
        return any(did_you_mean(member, [word]) for word in inside)

    def changed(self, path: Path) -> bool:
        """Is anything at this place not as the user wrote it?"""
        return bool(self.around) and self.original(path) in self.around

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


def well_shaped(document: object, schema: Schema, cut: Cut = item) -> tuple[list[Fault], PartialDocument | None]:
    """The faults of shape, and the part that has none; no part if too little of the document is left."""
    places = misshapen(document, schema)
    return [fault for _, fault in places], without_faults(document, schema, [path for path, _ in places], cut)


def without_faults(document: object, schema: Schema, places: Iterable[Path], cut: Cut = item) -> PartialDocument | None:
    """`document` without what holds the faults at `places`; None if what is left is no such document."""
    left_out = frozenset(cut(path) for path in places)
    if not left_out:
        return PartialDocument(document=document)
    if () in left_out:
        return None
    position: dict[Path, list[int]] = {}
    left = _without(document, _tree(dict.fromkeys(left_out, NOTHING)), position, ())
    misspelt = frozenset(str(path[0]) for path in left_out if path[0] not in schema.get("properties", path))
    return (
        None
        if misshapen(left, schema)
        else PartialDocument(document=left, left_out=left_out, position=position, misspelt=misspelt)
    )


def repaired(document: object, schema: Schema) -> tuple[list[Misfit], PartialDocument | None]:
    """All misfits, and the document with as little changed as its schema needs; no part if it is no object."""
    wrong_parts = misfits(document, schema)
    if not wrong_parts:
        return [], PartialDocument(document=document)
    lenient, lost = _lenient(schema), frozenset(_nameless(wrong_parts))
    changes: dict[Path, Any] = {}  # place -> what stands there instead; NOTHING: it is left out
    part = PartialDocument(document=document, left_out=lost)
    for _ in range(MOST_ROUNDS):
        wrong = misfits(part.document, lenient, any_name=True)
        if not wrong:
            return wrong_parts, part
        for misfit in wrong:
            place, instead = _change(part.original(misfit.place), misfit, changes)
            changes[place] = instead
        if () in changes:
            break
        part = _changed(document, schema, changes, lost)
    return wrong_parts, None


def _nameless(wrong_parts: Iterable[Misfit]) -> Iterator[Path]:
    """Lists without items, and items with an empty name: what others name may have been meant to be there."""
    for place, fault, *_ in wrong_parts:
        if fault.code == EMPTY and (len(place) <= ITEM or place[-1] in NAME_KEYS):
            yield place[:ITEM]


def _lenient(schema: Schema) -> Schema:
    """The schema, but lists and objects at the top may be empty."""
    needed = {"minItems", "minProperties"}
    properties = {
        key: {word: value for word, value in member.items() if word not in needed}
        for key, member in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties} if properties else schema


def _change(place: Path, misfit: Misfit, changes: Mapping[Path, Any]) -> tuple[Path, Any]:
    """What to do about a misfit: fill it, else leave it out, else leave out what holds it."""
    if misfit.placeholder is not NOTHING and changes.get(place, NOTHING) is NOTHING:
        return place, misfit.placeholder
    return (place, NOTHING) if misfit.known else (place[:-1], NOTHING)


def _changed(document: Any, schema: Schema, changes: Mapping[Path, Any], lost: frozenset[Path]) -> PartialDocument:
    position: dict[Path, list[int]] = {}
    left = _without(document, _tree(changes), position, ())
    left_out = frozenset(path for path, instead in changes.items() if instead is NOTHING or len(path) < ITEM)
    misspelt = frozenset(str(path[0]) for path in left_out if path[0] not in schema.get("properties", path))
    around = frozenset(path[:depth] for path in changes for depth in range(len(path) + 1))
    return PartialDocument(document=left, left_out=left_out | lost, position=position, misspelt=misspelt, around=around)


class _Leaf(NamedTuple):
    """The end of a path: what stands there instead, or NOTHING."""

    instead: Any


_Tree: TypeAlias = dict[str | int, "_Tree | _Leaf"]  # a step -> what to change below it


def _tree(changes: Mapping[Path, Any]) -> _Tree:
    root: _Tree = {}
    for path in sorted(changes, key=len):  # whole things first: what lies inside them is gone with them
        node: _Tree | _Leaf = root
        for step in path[:-1]:
            if isinstance(node, dict):
                node = node.setdefault(step, {})
        if isinstance(node, dict):
            node[path[-1]] = _Leaf(changes[path])
    return root


_GONE = _Leaf(NOTHING)


def _without(node: Any, tree: _Tree, position: dict[Path, list[int]], at: Path) -> Any:
    if isinstance(node, dict):
        filled = {step: leaf.instead for step, leaf in tree.items() if isinstance(leaf, _Leaf) and step not in node}
        kept = {step: member for step, member in node.items() if tree.get(step) != _GONE}
        members = {step: _inside(member, tree.get(step), position, (*at, step)) for step, member in kept.items()}
        return members | {step: value for step, value in filled.items() if value is not NOTHING}
    if not isinstance(node, list):
        return node
    position[at] = [index for index in range(len(node)) if tree.get(index) != _GONE]
    return [_inside(node[index], tree.get(index), position, (*at, place)) for place, index in enumerate(position[at])]


def _inside(node: Any, tree: _Tree | _Leaf | None, position: dict[Path, list[int]], at: Path) -> Any:
    if isinstance(tree, _Leaf):
        return tree.instead
    return node if tree is None else _without(node, tree, position, at)
