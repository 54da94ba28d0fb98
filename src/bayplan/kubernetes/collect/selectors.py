"""Label selectors and selectors of nodes, with the semantics of the API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayplan.kubernetes.client import Json
from bayplan.model import BoolArray


class Requirement(NamedTuple):
    """One requirement on a label."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist; of nodes Gt and Lt too
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Do these labels meet it?"""
        value = labels.get(self.key)
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        return (value is not None) == (self.operator == "Exists")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelector:
    """Requirements that must all hold. No selector at all selects nothing; one without requirements everything."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @classmethod
    def of(cls, selector: Json | None) -> "LabelSelector":
        """The selector that an object states."""
        if selector is None:
            return cls(nothing=True)
        exact = [Requirement(key, "In", (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
        further = [requirement_of(one) for one in selector.get("matchExpressions") or ()]
        return cls(requirements=tuple(sorted({*exact, *further})))

    @property
    def everything(self) -> bool:
        """Does it select whatever there is?"""
        return not self.nothing and not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Is something with these labels selected?"""
        return not self.nothing and all(one.holds(labels) for one in self.requirements)

    def with_labels(self, labels: Mapping[str, str]) -> "LabelSelector":
        """The selector that also asks for these labels."""
        if self.nothing or not labels:
            return self
        more = {Requirement(key, "In", (value,)) for key, value in labels.items()}
        return LabelSelector(requirements=tuple(sorted({*self.requirements, *more})))

    @property
    def keys(self) -> frozenset[str]:
        """The labels that it asks about."""
        return frozenset(one.key for one in self.requirements)

    @property
    def words(self) -> str:
        """For people: 'app=web, tier in (a, b)'."""
        return ", ".join(map(_words, self.requirements)) or ("nothing" if self.nothing else "everything")


def requirement_of(stated: Json) -> Requirement:
    """A requirement as the API states it."""
    return Requirement(str(stated["key"]), str(stated["operator"]), tuple(sorted(stated.get("values") or ())))


def _words(one: Requirement) -> str:
    if one.operator == "In" and len(one.values) == 1:
        return f"{one.key}={one.values[0]}"
    if one.operator in ("In", "NotIn"):
        return f"{one.key} {'in' if one.operator == 'In' else 'not in'} ({', '.join(one.values)})"
    if one.operator in ("Gt", "Lt"):
        return f"{one.key} {'>' if one.operator == 'Gt' else '<'} {one.values[0]}"
    return f"{one.key} {'exists' if one.operator == 'Exists' else 'does not exist'}"


class LabelTable:
    """The labels of all nodes, by label: which nodes have which value."""

    def __init__(self, names: Sequence[str], labels: Sequence[Mapping[str, str]]) -> None:
        self.names = tuple(names)
        self._rows: dict[str, dict[str, list[int]]] = {}  # label -> value -> nodes
        for row, own in enumerate(labels):
            for key, value in own.items():
                self._rows.setdefault(key, {}).setdefault(value, []).append(row)

    def values(self, key: str) -> Mapping[str, Sequence[int]]:
        """The values of a label, each with its nodes, ascending."""
        return self._rows.get(key, {})

    def with_any(self, key: str, accepted: Callable[[str], bool] = lambda _: True) -> BoolArray:
        """(node,) those that have the label, with an accepted value."""
        mask = np.zeros(len(self.names), dtype=np.bool_)
        for value, rows in self.values(key).items():
            if accepted(value):
                mask[rows] = True
        return mask

    def required(self, one: Requirement) -> BoolArray:
        """(node,) those that meet a requirement; an unreadable number is met by none."""
        if one.operator in ("In", "NotIn"):
            mask = self.with_any(one.key, lambda value: value in one.values)
            return mask if one.operator == "In" else ~mask
        if one.operator in ("Gt", "Lt"):
            return self._compared(one)
        mask = self.with_any(one.key)
        return mask if one.operator == "Exists" else ~mask

    def _compared(self, one: Requirement) -> BoolArray:
        bound = _integer(one.values[0] if len(one.values) == 1 else "")
        if bound is None:
            return np.zeros(len(self.names), dtype=np.bool_)

        def accepted(value: str) -> bool:
            number = _integer(value)
            return number is not None and (number > bound if one.operator == "Gt" else number < bound)

        return self.with_any(one.key, accepted)

    def selected(self, terms: Sequence[Json]) -> BoolArray:
        """(node,) those that meet one of the terms of a node selector. A term without requirements selects none."""
        mask = np.zeros(len(self.names), dtype=np.bool_)
        for term in terms:
            if term.get("matchExpressions") or term.get("matchFields"):
                mask |= self._term(term)
        return mask

    def _term(self, term: Json) -> BoolArray:
        mask = np.ones(len(self.names), dtype=np.bool_)
        for stated in term.get("matchExpressions") or ():
            mask &= self.required(requirement_of(stated))
        for stated in term.get("matchFields") or ():
            mask &= self._field(stated)
        return mask

    def _field(self, stated: Json) -> BoolArray:
        """A requirement on a field: only a node's name can be asked for, by one value."""
        values: Any = stated.get("values") or ()
        if stated.get("key") != "metadata.name" or stated.get("operator") not in ("In", "NotIn") or len(values) != 1:
            return np.zeros(len(self.names), dtype=np.bool_)
        mask = np.array([name == values[0] for name in self.names], dtype=np.bool_)
        return mask if stated["operator"] == "In" else ~mask


def _integer(text: str) -> int | None:
    """A whole number of 64 bits as the API reads it; None if it is none."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isdigit():
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def term_words(terms: Sequence[Json]) -> str:
    """The terms of a node selector for people: 'disk=ssd; or zone=a'."""
    parts = [
        ", ".join(
            _words(requirement_of(stated)) for stated in (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ()))
        )
        for term in terms
    ]
    return "; or ".join(part or "nothing" for part in parts) or "nothing"
