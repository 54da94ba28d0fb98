"""The rules of a generated cluster: capacity, compatibility lists, anti-affinity sets."""

from collections.abc import Mapping

import numpy as np

from bayplan.generate.rasa.settings import RuleShares, Settings
from bayplan.model import Allow, AntiAffinity, Capacity, IntArray, Rule, ints


def make_rules(
    settings: Settings, replicas: IntArray, machine_sets: Mapping[str, IntArray], rng: np.random.Generator
) -> tuple[Rule, ...]:
    """Capacity of both resources, then allow rules, then anti-affinity of one service, then of several."""
    allow = _allow(settings, rng)
    room = np.full(settings.services, settings.machines)  # (workload,) machines it may use
    for rule in allow:
        room[list(rule.workloads)] = len(machine_sets[rule.machines])
    groups = [*_alone(settings.rules, replicas, rng), *_together(settings, rng)]
    apart = [AntiAffinity(workloads=group, limit=_limit(group, replicas, room, settings.rules.slack)) for group in groups]
    return Capacity(resources=(0, 1)), *allow, *apart


def _allow(settings: Settings, rng: np.random.Generator) -> list[Allow]:
    """One rule per machine set, over different services."""
    shuffled = rng.permutation(settings.services)
    counts = [round(share * settings.services) for share in settings.rules.allow.values()]
    parts = np.split(shuffled, np.cumsum(counts))
    named = zip(settings.rules.allow, parts[:-1], strict=True)
    return [Allow(workloads=_ascending(part), machines=name) for name, part in named if len(part)]


def _alone(shares: RuleShares, replicas: IntArray, rng: np.random.Generator) -> list[tuple[int, ...]]:
    several = np.flatnonzero(replicas > 1)
    chosen = rng.choice(several, round(shares.alone * len(several)), replace=False)
    return [(w,) for w in _ascending(chosen)]


def _together(settings: Settings, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Disjoint groups of several services."""
    low, high = settings.rules.set_sizes
    sizes = rng.integers(low, high + 1, round(settings.rules.sets_per_service * settings.services))
    parts = np.split(rng.permutation(settings.services), np.cumsum(sizes))
    return [_ascending(part) for part in parts[:-1]]


def _limit(group: tuple[int, ...], replicas: IntArray, room: IntArray, slack: int) -> int:
    """h such that the group needs at most one in `slack` of the machines it may use."""
    members = list(group)
    return max(1, -int(-slack * replicas[members].sum() // room[members].min()))


def _ascending(workloads: IntArray) -> tuple[int, ...]:
    return tuple(ints(np.sort(workloads)).tolist())
