"""What the referee asks of every rule: how far it is violated in the places that a change touches."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from bayplan.check.operation.population import Change
from bayplan.model import Cluster

Place: TypeAlias = tuple[int, ...]  # the rule's number, then where: a machine, a group, a resource, ...


class Finding(NamedTuple):
    """A violation in words."""

    subject: tuple[str, ...]
    sentence: str


class Watch(Protocol):
    """All rules of one kind over the life of a cluster. It keeps its own numbers."""

    rule: str

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Take a change in; each place that it touches, and how far the rule is violated there now, 0 if it is not."""

    def describe(self, place: Place) -> Finding:
        """The violation in a place, as it is now."""


def numbered(cluster: Cluster, kind: str) -> Sequence[tuple[int, Any]]:
    """The rules of one kind, each with its index in the cluster's rules."""
    return [(number, rule) for number, rule in enumerate(cluster.rules) if rule.kind == kind]


def by_key(pairs: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """The second of each pair, listed under the first; each once."""
    lists: dict[int, list[int]] = {}
    for key, value in dict.fromkeys(pairs):
        lists.setdefault(key, []).append(value)
    return lists
