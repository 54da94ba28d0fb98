"""How a place in a document is said to people: machine 'm-3', capacity cpu."""

import json
import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from bayplan.errors import Fault

Path: TypeAlias = tuple[str | int, ...]  # keys and positions from the top of a document

NAME_KEYS = ("name", "Service", "MachineIP")  # which keys name an item
FEW = 3  # members of a list or an object that are shown
LONG = 40  # letters of a text or digits of a number that are shown


class NotFinite(float):
    """A number that is NaN or infinite, with its text as the user wrote it."""

    text: str

    def __new__(cls, text: str) -> "NotFinite":
        """The number that a text of JSON or YAML says."""
        number = super().__new__(cls, text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        number.text = text
        return number


def shown(value: object, depth: int = 2) -> str:
    """A value as the user wrote it, cut to a glance."""
    if isinstance(value, NotFinite):
        return value.text if len(value.text) <= LONG else f"{value.text[: LONG - 3]}..."
    if isinstance(value, list):
        items = value[:FEW] if depth else []
        return f"[{_members([shown(item, depth - 1) for item in items], len(value), depth)}]"
    if isinstance(value, dict):
        pairs = list(value.items())[:FEW] if depth else []
        return "{" + _members([f"{shown(key)}: {shown(item, depth - 1)}" for key, item in pairs], len(value), depth) + "}"
    if isinstance(value, str) and len(value) > LONG:
        return shown(f"{value[: LONG - 3]}...")
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if isinstance(value, str) or len(text) <= LONG else f"{text[: LONG - 3]}..."


def _members(few: list[str], count: int, depth: int) -> str:
    return "..." if count and not depth else ", ".join([*few, *(["..."] if count > FEW else [])])


class Location(NamedTuple):
    """What a fault is about."""

    kind: str  # "machine"
    name: str  # "m-3"; empty for the file itself
    inside: str  # "capacity cpu"; empty for the thing itself


def location(document: object, path: Path) -> Location:
    """The nearest thing with a name on the way to `path`, and the way on from there.

    An item of a list is named by its "name", else by its position (from 1) and, for rules, their kind.
    """
    kind, name, node = "file", "", document
    inside: list[str] = []
    for depth, step in enumerate(path):
        parent, node = node, _child(node, step)
        of = str(path[depth - 1]) if depth else ""
        if isinstance(step, int) and (depth == 1 or _name_of(node)):
            kind, name, inside = singular(of), _name_of(node) or _numbered(node, step), []
        elif depth == 1 and of.endswith("s") and isinstance(parent, dict):
            kind, name, inside = singular(of), str(step), []  # {"resources": {"cpu": ...}}
        elif depth == 1:
            kind, inside = of, [str(step)]
        else:
            inside.append(f"entry {step + 1}" if isinstance(step, int) else step)
    return Location(kind, name, " ".join(inside))


def singular(key: str) -> str:
    """'machine' for 'machines' and 'MachineList', 'entry' for 'entries', 'batch' for 'batches'."""
    if key in ("ServiceList", "MachineList"):
        return key.removesuffix("List").lower()
    if key.endswith("ies"):
        return f"{key[:-3]}y"
    return key.removesuffix("es" if key.endswith("ches") else "s").replace("_", " ")


def fault_at(document: object, path: Path, code: str, problem: str, *, value: object = None, expected: str = "") -> Fault:
    """A fault about the place `path`, with the value that stands there unless another is given."""
    kind, name, inside = location(document, path)
    text = value if isinstance(value, str) else shown(_at(document, path))
    problem = f"{inside} {problem}".strip()
    return Fault(code=code, kind=kind, name=name, problem=problem, value=text, expected=expected, place=path)


def non_finite_faults(document: object) -> list[Fault]:
    """One fault for each number that is NaN or infinite."""
    places = [path for path, value in scalars(document) if isinstance(value, float) and not math.isfinite(value)]
    return [fault_at(document, path, "E1103", "is not finite", expected="a finite number") for path in places]


def scalars(document: object) -> Iterator[tuple[Path, object]]:
    """Every value that is neither an object nor a list, with its place."""
    pending: list[tuple[Path, object]] = [((), document)]
    seen: set[int] = set()  # YAML aliases can make a document that holds itself
    while pending:
        path, node = pending.pop()
        if not isinstance(node, dict | list):
            yield path, node
        elif id(node) not in seen:
            seen.add(id(node))
            members = node.items() if isinstance(node, dict) else enumerate(node)
            pending.extend((((*path, key), value) for key, value in members))


def _child(node: object, step: str | int) -> object:
    if isinstance(node, dict):
        return node.get(step)
    return node[step] if isinstance(node, list) and isinstance(step, int) and step < len(node) else None


def _at(document: object, path: Path) -> object:
    for step in path:
        document = _child(document, step)
    return document


def _name_of(node: object) -> str:
    names = [node.get(key) for key in NAME_KEYS] if isinstance(node, dict) else []
    return next((name for name in names if isinstance(name, str)), "")


def _numbered(node: object, index: int) -> str:
    rule = node.get("rule") if isinstance(node, dict) else None
    return f"{index + 1} ({rule})" if isinstance(rule, str) else f"{index + 1}"
