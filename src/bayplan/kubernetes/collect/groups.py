"""Groups of pods that are alike: each shown group becomes a workload of the model."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.kubernetes.collect.owners import Owner, workload_names
from bayplan.kubernetes.collect.pod_facts import PodFacts, PodTerm
from bayplan.kubernetes.collect.pods import PodRow
from bayplan.kubernetes.collect.selectors import LabelSelector
from bayplan.kubernetes.collect.volumes import Reach
from bayplan.model import UNPLACED, IntArray, ints

OTHER = "other template"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodGroup:
    """Pods of one owner that agree in all that placement depends on; or pods that only use their nodes."""

    name: str  # of the workload
    owner: Owner
    facts: PodFacts
    labels: Mapping[str, str]  # those that some selector asks about
    reach: Reach
    rows: tuple[PodRow, ...]
    workload: int  # its index in the model, -1 if it is not shown
    main: bool = True  # the largest group of its owner: others differ from it, and stay

    @property
    def shown(self) -> bool:
        """Is it a workload of the model?"""
        return self.workload >= 0

    @property
    def machines(self) -> IntArray:
        """The nodes on which its pods run, each once."""
        return ints(np.unique([row.machine for row in self.rows if row.machine != UNPLACED]))


def grouped(rows: Sequence[PodRow], asked: frozenset[str]) -> tuple[PodGroup, ...]:
    """All groups, those that are shown first, by name; `asked` are the labels that selectors ask about."""
    shown: dict[tuple[object, ...], list[PodRow]] = defaultdict(list)
    others: dict[tuple[object, ...], list[PodRow]] = defaultdict(list)
    for row in rows:
        labels = _asked_labels(row, asked)
        if row.shown:
            shown[row.pod.owner, row.facts, labels, row.reach].append(row)
        elif row.machine != UNPLACED:
            others[row.facts.namespace, row.facts.apart, row.facts.ports, labels].append(row)
    named = sorted(_named(shown.values(), asked), key=lambda entry: entry[0])
    groups = [_group(name, members, asked, w, main) for w, (name, main, members) in enumerate(named)]
    return (*groups, *(_group("", members, asked, -1, True) for members in others.values()))


def _asked_labels(row: PodRow, asked: frozenset[str]) -> tuple[tuple[str, str], ...]:
    labels: Mapping[str, str] = row.raw["metadata"].get("labels") or {}
    return tuple(sorted((key, labels[key]) for key in asked.intersection(labels)))


def _group(name: str, members: list[PodRow], asked: frozenset[str], workload: int, main: bool) -> PodGroup:
    first = members[0]
    return PodGroup(
        name=name,
        owner=first.pod.owner,
        facts=first.facts,
        labels=dict(_asked_labels(first, asked)),
        reach=first.reach,
        rows=tuple(sorted(members, key=lambda row: row.pod.container)),
        workload=workload,
        main=main,
    )


def _named(groups: Iterable[list[PodRow]], asked: frozenset[str]) -> Iterable[tuple[str, bool, list[PodRow]]]:
    """Each group with its name: its owner's; of further groups of one owner, with what makes them different."""
    by_owner: dict[Owner, list[list[PodRow]]] = defaultdict(list)
    for members in groups:
        by_owner[members[0].pod.owner].append(members)
    names = workload_names(by_owner)
    for owner, unsorted in by_owner.items():
        parts = _most_common_first(unsorted)
        yield names[owner], True, parts[0]
        for number, members in enumerate(parts[1:], start=1):
            main = _alike(members[0], parts[0][0], asked)
            what = "other volumes" if main else OTHER
            yield f"{names[owner]} ({what}{'' if number == 1 else f' {number}'})", main, members


def _most_common_first(parts: list[list[PodRow]]) -> list[list[PodRow]]:
    """The facts that most pods have come first, whatever their volumes; then the larger groups."""
    size: dict[PodFacts, int] = defaultdict(int)
    for members in parts:
        size[members[0].facts] += len(members)
    return sorted(parts, key=lambda members: (-size[members[0].facts], -len(members), min(row.pod.container for row in members)))


def _alike(one: PodRow, other: PodRow, asked: frozenset[str]) -> bool:
    """Do two pods differ in their volumes alone?"""
    return one.facts == other.facts and _asked_labels(one, asked) == _asked_labels(other, asked)


class Matches:
    """Which groups selectors mean. Most selectors ask for the value of a label, so groups are looked up by label."""

    def __init__(self, groups: Sequence[PodGroup], namespaces: Mapping[str, Mapping[str, str]] | None) -> None:
        self.groups, self._namespaces = groups, namespaces
        self._in: dict[str, list[int]] = defaultdict(list)
        self._labelled: dict[tuple[str, str, str], list[int]] = defaultdict(list)  # namespace, label, value -> groups
        for number, group in enumerate(groups):
            self._in[group.facts.namespace].append(number)
            for key, value in group.labels.items():
                self._labelled[group.facts.namespace, key, value].append(number)
        self._known: dict[PodTerm, tuple[int, ...] | None] = {}

    def of(self, term: PodTerm) -> tuple[int, ...] | None:
        """The groups that a term means; None if that cannot be said, because namespaces were not read."""
        if term not in self._known:
            self._known[term] = self._found(term)
        return self._known[term]

    def _found(self, term: PodTerm) -> tuple[int, ...] | None:
        named = {*term.namespaces}
        selector = term.namespace_selector
        if selector.everything:
            named |= self._in.keys()
        elif not selector.nothing:
            if self._namespaces is None:
                return None
            named |= {name for name, labels in self._namespaces.items() if selector.matches(labels)}
        return self.selected(named, term.selector)

    def selected(self, namespaces: Iterable[str], selector: LabelSelector) -> tuple[int, ...]:
        """The groups of some namespaces whose labels are selected."""
        return tuple(
            number
            for name in sorted(namespaces)
            for number in self._candidates(name, selector)
            if selector.matches(self.groups[number].labels)
        )

    def _candidates(self, namespace: str, selector: LabelSelector) -> Sequence[int]:
        """Groups of a namespace among which all that are selected must be."""
        for key, operator, values in selector.requirements:
            if operator == "In":
                return [number for value in values for number in self._labelled.get((namespace, key, value), ())]
        return self._in.get(namespace, ())
