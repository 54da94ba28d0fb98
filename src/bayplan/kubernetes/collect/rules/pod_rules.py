"""Rules between pods: anti-affinity, also that of running pods; host ports; affinity; topology spread."""

from collections.abc import Iterable, Sequence

import numpy as np

from bayplan.kubernetes.collect.groups import Matches, PodGroup
from bayplan.kubernetes.collect.pod_facts import PodTerm, SpreadTerm
from bayplan.kubernetes.collect.rules.node_rules import NodeMasks
from bayplan.kubernetes.collect.rules.rule_list import RuleList
from bayplan.model import BoolArray, Dependency, Skew, ints

UNREAD = "its affinity selects namespaces by label, and namespaces were not read"


def add_anti_affinity(rules: RuleList, matches: Matches) -> None:
    """Required anti-affinity: it holds in both directions, also that of pods that only use their nodes."""
    for number, group in enumerate(rules.groups):
        for term in group.facts.apart:
            others = matches.of(term)
            if others is None:
                _refuse_all(rules, number)
                continue
            for other in others:
                _keep_apart(rules, number, other, term)


def _refuse_all(rules: RuleList, number: int) -> None:
    """A term of which it is not known what it means: its own pods stay, and so does everything, if they are elsewhere."""
    if rules.groups[number].shown:
        rules.refuse(number, UNREAD)
    for other, _ in enumerate(rules.groups):
        rules.refuse(other, "anti-affinity of a running pod selects namespaces by label, and namespaces were not read")


def _keep_apart(rules: RuleList, one: int, other: int, term: PodTerm) -> None:
    """Groups in the model get a rule; what only uses its node closes the domains in which it runs."""
    first, second = rules.groups[one], rules.groups[other]
    if first.shown and second.shown:
        rules.keep_apart(one, other, rules.nodes.level(term.key))
    elif first.shown:
        rules.keep_away(one, rules.nodes.domains_of(term.key, second.machines), f"away from {term.words}")
    elif second.shown:
        words = f"away from pods of {first.facts.namespace} that keep {term.words} away"
        rules.keep_away(other, rules.nodes.domains_of(term.key, first.machines), words)


def add_host_ports(rules: RuleList) -> None:
    """Pods that use the same port of their node never share one."""
    users = [number for number, group in enumerate(rules.groups) if group.facts.ports]
    for position, one in enumerate(users):
        for other in users[position:]:
            first, second = rules.groups[one], rules.groups[other]
            if not any(a.conflicts(b) for a in first.facts.ports for b in second.facts.ports):
                continue
            if first.shown and second.shown:
                rules.keep_apart(one, other, 0)
            elif first.shown or second.shown:
                inside, outside = (one, second) if first.shown else (other, first)
                port = min(port.port for port in rules.groups[inside].facts.ports)
                rules.keep_away(inside, _on(rules, outside), f"host port {port} free")


def _on(rules: RuleList, group: PodGroup) -> BoolArray:
    mask = np.zeros(len(rules.nodes), dtype=np.bool_)
    mask[group.machines] = True
    return mask


# ---- affinity ------------------------------------------------------------------------------------------------------------------


def add_affinity(rules: RuleList, matches: Matches, service: Sequence[int]) -> None:
    """Required affinity: a rule where the model has one that says the same, else a refusal.

    A pod counts only if every term of the pod that asks means it. `service` is the service of each workload.
    """
    for number, group in enumerate(rules.groups):
        if not group.facts.together or not group.shown or not rules.movable[number]:
            continue
        meant = [matches.of(term) for term in group.facts.together]
        if any(one is None for one in meant):
            rules.refuse(number, UNREAD)
            continue
        partners = sorted(set.intersection(*(set(one) for one in meant if one is not None)))
        _keep_together(rules, number, partners, service)


def _keep_together(rules: RuleList, number: int, partners: Sequence[int], service: Sequence[int]) -> None:
    group = rules.groups[number]
    terms = group.facts.together
    for term in terms:
        rules.allow(number, rules.nodes.with_key(term.key), f"nodes with the label {term.key}")
    words = f"near {terms[0].words}"
    fixed = [p for p in partners if not rules.movable[p] and len(rules.groups[p].machines)]
    moving = [p for p in partners if rules.movable[p] and p != number]
    if not moving and number not in partners:
        rules.allow(number, _near(rules, terms, fixed), words)
    elif fixed and _within(rules, number, near := _near(rules, terms, fixed)):
        rules.allow(number, near, words)  # what never moves is enough: the others may come and go
    elif not moving:
        _near_itself(rules, number, terms, words)
    elif len(terms) == 1 and number not in partners and _are_services(rules, ([number], partners), service):
        on, mine = service[rules.groups[partners[0]].workload], service[group.workload]
        rules.add(Dependency(service=mine, on=on, level=rules.nodes.level(terms[0].key)))
    else:
        _refuse_together(rules, number, moving, words)


def _near(rules: RuleList, terms: Sequence[PodTerm], partners: Iterable[int]) -> BoolArray:
    """(node,) those with a partner in the domain of every term."""
    machines = ints(sorted({m for p in partners for m in rules.groups[p].machines.tolist()}))
    mask = np.ones(len(rules.nodes), dtype=np.bool_)
    for term in terms:
        mask &= rules.nodes.domains_of(term.key, machines)
    return mask


def _within(rules: RuleList, number: int, mask: BoolArray) -> bool:
    return bool(mask[rules.groups[number].machines].all())


def _near_itself(rules: RuleList, number: int, terms: Sequence[PodTerm], words: str) -> None:
    """Pods that want to be near each other stay in the one domain that they are in; if they are in several, they stay."""
    machines = rules.groups[number].machines
    if not len(machines):
        return  # the first of its kind may run anywhere
    near = _near(rules, terms, [number])
    first = np.ones(len(rules.nodes), dtype=np.bool_)
    for term in terms:
        first &= rules.nodes.domains_of(term.key, machines[:1])
    if np.array_equal(near, first) and near[machines].all():
        rules.allow(number, near, words)
    else:
        rules.refuse(number, f"its pods are to be {words}, and are in several such domains")


def _are_services(rules: RuleList, parts: Sequence[Sequence[int]], service: Sequence[int]) -> bool:
    """Is each part exactly the workloads of one service?"""
    for numbers in parts:
        workloads = {rules.groups[number].workload for number in numbers}  # -1 for what is not shown: no service has it
        services = {service[w] for w in workloads if w >= 0}
        if len(services) != 1 or {w for w, s in enumerate(service) if s in services} != workloads:
            return False
    return True


def _refuse_together(rules: RuleList, number: int, moving: Sequence[int], words: str) -> None:
    """Neither the pods that want to be near others move, nor those others: the model cannot say what would be lost."""
    name = rules.groups[number].name
    rules.refuse(number, f"its pods are to be {words}, which are pods of several workloads that move")
    for other in moving:
        rules.refuse(other, f"pods of {name} are to be near it")


# ---- topology spread -----------------------------------------------------------------------------------------------------------


def add_spread(rules: RuleList, matches: Matches, masks: NodeMasks) -> None:
    """Topology spread constraints that must hold, as rules about skew."""
    for number, group in enumerate(rules.groups):
        if not group.facts.spread or not group.shown or not rules.movable[number]:
            continue
        labelled = np.ones(len(rules.nodes), dtype=np.bool_)
        for term in group.facts.spread:
            labelled &= rules.nodes.with_key(term.key)
        rules.allow(number, labelled, "nodes with the labels of its topology spread")
        for term in group.facts.spread:
            _add_skew(rules, matches, masks, number, term, labelled)


def _add_skew(rules: RuleList, matches: Matches, masks: NodeMasks, number: int, term: SpreadTerm, labelled: BoolArray) -> None:
    group = rules.groups[number]
    if term.selector.everything or term.selector.nothing:
        return  # neither counts any pod, so that no node has too many
    eligible = labelled.copy()
    if term.honor_affinity:
        eligible &= masks.by_selector(group.facts) & masks.by_affinity(group.facts)
    if term.honor_taints:
        eligible &= masks.by_taints(group.facts) & rules.nodes.open
    counted = [p for p in matches.selected({group.facts.namespace}, term.selector) if rules.groups[p].shown]
    if not counted or not eligible.any():
        return
    rules.add(
        Skew(
            workload=group.workload,
            counted=tuple(sorted(rules.groups[p].workload for p in counted)),
            limit=term.limit,
            level=rules.nodes.level(term.key),
            machines="" if eligible.all() else rules.machine_set(eligible, f"counted for spread by {term.key}"),
            min_groups=term.min_domains if term.min_domains > 1 else 0,
        )
    )
