"""What the parts of the native reader share: the document, the faults so far, and names -> indices."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayplan.errors import Fault, did_you_mean
from bayplan.formats.document.naming import one_of_known
from bayplan.formats.document.salvage import Salvage
from bayplan.formats.document.subject import Path, fault_at, shown

MISSING = -1  # the index of a name that nothing has
MOST_HINTS = 20  # looking for near names is slow: not for thousands of faults, nor among
MOST_NAMES = 20_000  # so many names


NAMED_BY = {  # the keys of a document that give names of each kind; none of the others can be left out
    "resource": ("resources",),
    "level": ("levels",),
    "group": ("levels",),
    "machine": ("machines",),
    "machine set": ("machine_sets",),
    "service": ("services", "workloads"),
    "workload": ("workloads",),
    "container": ("workloads",),
}


NAMED_INSIDE = {  # the key of an item that gives names, too
    "service": ("workloads", "service"),
    "container": ("workloads", "containers"),
    "group": ("levels", "groups"),
}


@dataclass(slots=True)
class Reader:
    """A document of the right shape, on its way to a model."""

    part: Salvage
    whole: Mapping[str, Any]  # as the user wrote it: the same, unless parts of the wrong shape were left out
    faults: list[Fault] = field(default_factory=list)
    places: list[Path] = field(default_factory=list)  # of the faults, in `whole`
    notes: list[str] = field(default_factory=list)
    hints: int = MOST_HINTS

    @property
    def document(self) -> Mapping[str, Any]:
        """What is read."""
        document: Mapping[str, Any] = self.part.document
        return document

    def fault(self, path: Path, code: str, problem: str, *, value: str | None = None, expected: str = "") -> None:
        """Note a fault at a place of the document."""
        self.places.append(self.part.original(path))
        self.faults.append(fault_at(self.whole, self.places[-1], code, problem, value=value, expected=expected))

    def contradiction(self, path: Path, code: str, problem: str, *, value: str | None = None, expected: str = "") -> None:
        """Note that two values of one item do not fit each other; not if one of them was changed to go on reading."""
        if not self.part.changed(path[:2]):
            self.fault(path, code, problem, value=value, expected=expected)

    def table(self, kind: str, names: Sequence[str], paths: Sequence[Path]) -> dict[str, int]:
        """name -> index; a fault for each name that comes twice."""
        table: dict[str, int] = {}
        for index, name in enumerate(names):
            if table.setdefault(name, index) != index:
                self.fault(
                    paths[index], "E1201", f"a {kind} of this name is there already", value=shown(name), expected="each name once"
                )
        return table

    def find(self, kind: str, table: Mapping[str, int], name: str, path: Path) -> int:
        """The index of a name, or MISSING and a fault."""
        index = table.get(name, MISSING)
        if index == MISSING:
            self.unknown("E1202", kind, table, name, path)
        return index

    def unknown(self, code: str, kind: str, table: Mapping[str, int], name: str, path: Path) -> None:
        """Note a name that nothing has, with the nearest one that something has; not if what has it may be left out."""
        if self.part.lacks(*NAMED_BY[kind]) or self.part.lacks_inside(*NAMED_INSIDE.get(kind, ("", ""))):
            return
        expected = one_of_known(kind, table) + self.hint(name, table)
        self.fault(path, code, f"names an unknown {kind}", value=shown(name), expected=expected)

    def hint(self, name: str, known: Collection[str]) -> str:
        """The nearest known name, while there are few enough to look."""
        self.hints -= 1
        return did_you_mean(name, known) if self.hints >= 0 and len(known) <= MOST_NAMES else ""

    def find_all(self, kind: str, table: Mapping[str, int], names: Sequence[str], path: Path) -> tuple[int, ...]:
        """The indices of a list of names; a fault for each that is unknown or comes twice."""
        found = tuple(self.find(kind, table, name, (*path, place)) for place, name in enumerate(names))
        if len(set(names)) != len(names):
            first: dict[str, int] = {}
            for place, name in enumerate(names):
                if first.setdefault(name, place) != place:
                    where = (*path, place)
                    self.fault(where, "E1203", f"names the same {kind} again", value=shown(name), expected="each once")
        return found
