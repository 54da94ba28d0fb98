"""On which nodes a pod may run by what it says about nodes: selector, affinity, tolerations, system, volumes."""

import json
from collections.abc import Sequence

import numpy as np

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.nodes import NodeTable, Taint
from bayplan.kubernetes.collect.pod_facts import PodFacts
from bayplan.kubernetes.collect.rules.rule_list import RuleList
from bayplan.kubernetes.collect.selectors import Requirement, term_words
from bayplan.model import BoolArray

OS = "kubernetes.io/os"


class NodeMasks:
    """Masks of nodes, each computed once for all pods that say the same."""

    def __init__(self, nodes: NodeTable) -> None:
        self.nodes = nodes
        self._selector: dict[str, BoolArray] = {}
        self._terms: dict[str, BoolArray] = {}
        self._tolerated: dict[str, BoolArray] = {}
        self._taints = sorted({node.taints for node in nodes.nodes})
        self._taint_rows = {taints: [m for m, node in enumerate(nodes.nodes) if node.taints == taints] for taints in self._taints}

    def by_selector(self, facts: PodFacts) -> BoolArray:
        """(node,) those that its node selector selects."""
        if facts.node_selector not in self._selector:
            mask = np.ones(len(self.nodes), dtype=np.bool_)
            for key, value in json.loads(facts.node_selector).items():
                mask &= self.nodes.labels.required(Requirement(key, "In", (value,)))
            self._selector[facts.node_selector] = mask
        return self._selector[facts.node_selector]

    def by_affinity(self, facts: PodFacts) -> BoolArray:
        """(node,) those that its required node affinity selects."""
        if facts.node_terms not in self._terms:
            everywhere = np.ones(len(self.nodes), dtype=np.bool_)
            self._terms[facts.node_terms] = (
                self.nodes.labels.selected(json.loads(facts.node_terms)) if facts.node_terms else everywhere
            )
        return self._terms[facts.node_terms]

    def by_taints(self, facts: PodFacts) -> BoolArray:
        """(node,) those whose taints it tolerates."""
        if facts.tolerations not in self._tolerated:
            tolerations = json.loads(facts.tolerations)
            mask = np.ones(len(self.nodes), dtype=np.bool_)
            for taints in self._taints:
                if not all(tolerated(taint, tolerations) for taint in taints):
                    mask[self._taint_rows[taints]] = False
            self._tolerated[facts.tolerations] = mask
        return self._tolerated[facts.tolerations]

    def by_system(self, facts: PodFacts) -> BoolArray:
        """(node,) those that do not say that they run another operating system."""
        labels = self.nodes.labels
        return labels.with_any(OS, lambda value: value == facts.os) | ~labels.with_any(OS)


def tolerated(taint: Taint, tolerations: Sequence[Json]) -> bool:
    """Is a taint tolerated?"""
    for one in tolerations:
        same_effect = not one.get("effect") or one["effect"] == taint.effect
        same_key = not one.get("key") or one["key"] == taint.key
        operator = one.get("operator") or "Equal"
        same_value = operator == "Exists" or (operator == "Equal" and (one.get("value") or "") == taint.value)
        if same_effect and same_key and same_value:
            return True
    return False


def add_node_rules(rules: RuleList, masks: NodeMasks) -> None:
    """A rule for each thing that keeps a movable group from some nodes."""
    for number, group in enumerate(rules.groups):
        if not group.shown or not rules.movable[number]:
            continue
        facts = group.facts
        rules.allow(number, masks.by_selector(facts), f"node selector {_selector_words(facts)}")
        if facts.node_terms:
            rules.allow(number, masks.by_affinity(facts), f"node affinity {term_words(json.loads(facts.node_terms))}")
        rules.allow(number, masks.by_taints(facts), "taints tolerated")
        if facts.os:
            rules.allow(number, masks.by_system(facts), f"operating system {facts.os}")
        if group.reach.machines:
            rules.allow(number, group.reach.mask(), group.reach.words)


def _selector_words(facts: PodFacts) -> str:
    return ", ".join(f"{key}={value}" for key, value in json.loads(facts.node_selector).items())
