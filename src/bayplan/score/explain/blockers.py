"""What blocks a move, machine by machine: one small function per rule.

A rule blocks a machine if moving there violates it, or violates it more than it is violated now.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bayplan.check.placement.changes import arrivals, charge
from bayplan.check.placement.machines import quantile, usage
from bayplan.check.violation import TOLERANCE, amount, containers, counted, named, real_amount, where
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    BoolArray,
    Dependency,
    FloatArray,
    IntArray,
    Interference,
    Rule,
    Skew,
    Spread,
    TransientMode,
)
from bayplan.score.explain.move import CandidateMove
from bayplan.score.explain.skew import MoveSkew


class Blocker(NamedTuple):
    """One rule, and the machines that it blocks."""

    reason: str  # "short of cpu"
    blocks: BoolArray  # (machine,)
    say: Callable[[int], str]  # machine -> sentence


Blocks: TypeAlias = Callable[[CandidateMove, Any], Iterator[Blocker]]


def _beyond(count: IntArray, limit: IntArray | int) -> IntArray:
    return np.asarray(np.maximum(count - limit, 0), dtype=np.int64)


def not_allowed(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Machines outside of the set, for each moving workload that it binds."""
    outside = np.ones(len(move.cluster.machines.name), dtype=np.int64)
    outside[move.cluster.machine_sets[rule.machines]] = 0
    bound = set(rule.workloads)
    for w in np.unique(move.cluster.containers.workload[move.members]):
        if int(w) in bound:
            count = move.counts(move.containers_of((int(w),)), 0)
            blocks = move.worsens(0, count.now * outside, count.after * outside)
            yield Blocker("not allowed", blocks, lambda m: f"not in set '{rule.machines}'")


def short(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Machines where the requests do not fit."""
    needs = move.cluster.request_of(move.members).sum(axis=0)
    has, now, others = move.cluster.machines.capacity, move.now.load, move.others.load
    for r in rule.resources:
        if needs[r]:
            resource = move.cluster.resources[r]
            blocks = move.worsens(0, _beyond(now[:, r], has[:, r]), _beyond(others[:, r] + needs[r], has[:, r]))
            yield Blocker(f"short of {resource.name}", blocks, _say_short(resource, int(needs[r]), has[:, r] - others[:, r]))


def _say_short(resource: Any, needs: int, free: IntArray) -> Callable[[int], str]:
    return lambda m: f"short of {resource.name}: needs {amount(needs, resource)}, {amount(max(0, int(free[m])), resource)} free"


def anti_affinity(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Groups that would hold too many of the set."""
    count = move.counts(move.containers_of(rule.workloads), rule.level)
    if not count.moving:
        return
    level = move.cluster.levels[rule.level]
    names = named([move.cluster.workloads.name[w] for w in rule.workloads])
    blocks = move.worsens(rule.level, _beyond(count.now, rule.limit), _beyond(count.after, rule.limit))

    def say(m: int) -> str:
        group = int(level.group_of[m])
        return (
            f"anti-affinity: {containers(int(count.after[group]))} of {names} {where(level, group)}, at most {rule.limit} allowed"
        )

    yield Blocker("anti-affinity", blocks, say)


def interference(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Groups where `a` would meet too many of `b`."""
    a, b = (move.counts(move.containers_of((w,)), rule.level) for w in (rule.a, rule.b))
    if not a.moving + b.moving:
        return
    level, names = move.cluster.levels[rule.level], [move.cluster.workloads.name[w] for w in (rule.a, rule.b)]
    now = np.where(a.now > 0, _beyond(b.now, rule.limit), 0)
    after = np.where(a.after > 0, _beyond(b.after, rule.limit), 0)

    def say(m: int) -> str:
        group = int(level.group_of[m])
        return (
            f"interference: {containers(int(b.after[group]))} of '{names[1]}' {where(level, group)} where '{names[0]}' runs, "
            f"at most {rule.limit} allowed"
        )

    yield Blocker("interference", move.worsens(rule.level, now, after), say)


def spread(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Groups that would leave the service in too few of them."""
    members = move.cluster.containers_of_service(rule.service)
    count, size = move.counts(members, rule.level), len(members)
    if not count.moving:
        return
    level, name = move.cluster.levels[rule.level], move.cluster.services.name[rule.service]
    need = _groups_needed(rule.minimum, int(count.others.sum()) + count.moving, size)
    used = (count.others > 0).sum() + (count.others == 0)  # (group,) if the move went there
    missing_now = max(0, _groups_needed(rule.minimum, int(count.now.sum()), size) - int((count.now > 0).sum()))
    blocks = move.worsens(rule.level, np.full(len(used), missing_now), np.maximum(need - used, 0))

    def say(m: int) -> str:
        return f"spread: service '{name}' would be in {counted(int(used[level.group_of[m]]), level.name)}, at least {need} needed"

    yield Blocker("spread", blocks, say)


def skew(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Groups that would have too many more than the emptiest, and those that leave it emptier than others can bear."""
    skewed = MoveSkew.of(move, rule)
    if skewed.moving + skewed.moving_own:
        yield Blocker("skew", skewed.blocks(), skewed.say)


def _groups_needed(minimum: int, placed: int, size: int) -> int:
    """While containers of a service are unplaced, as many groups as containers are placed are enough."""
    return minimum if placed == size else min(minimum, placed)


def dependency(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Groups where a service would miss the one it depends on, there or in the group that is left."""
    service, on = (move.counts(move.cluster.containers_of_service(s), rule.level) for s in (rule.service, rule.on))
    if not service.moving + on.moving:
        return
    level, names = move.cluster.levels[rule.level], [move.cluster.services.name[s] for s in (rule.service, rule.on)]
    now, others, after = (np.where(o == 0, s, 0) for s, o in zip(_states(service), _states(on), strict=True))
    left = others > now  # groups that lose what they depend on, unless the move stays there
    blocks = move.worsens(rule.level, now, after) | (left.sum() > left)[level.group_of]
    if move.home != UNPLACED:
        blocks[move.home] = after[level.group_of[move.home]] > 0
    yield Blocker("dependency", blocks, lambda m: f"dependency: service '{names[0]}' would miss service '{names[1]}'")


def _states(count: Any) -> tuple[IntArray, IntArray, IntArray]:
    return count.now, count.others, count.after


def transient(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Machines that cannot be charged for it while it moves."""
    before = move.now.before
    if before is None:
        return
    r, resource, n_m = rule.resource, move.cluster.resources[rule.resource], len(move.cluster.machines.name)
    needs = move.cluster.request_of(move.members)[:, r]
    comes = np.ones((n_m, len(move.members)), dtype=np.bool_)  # (machine, member) did it run elsewhere?
    ran = np.flatnonzero(before[move.members] != UNPLACED)
    comes[before[move.members[ran]], ran] = False
    new = comes if rule.mode is TransientMode.JOINT else np.ones_like(comes)
    has = move.cluster.machines.capacity[:, r]
    takes_now, takes_others = (arrivals(context.machine_of, before, n_m) for context in (move.now, move.others))
    now = np.where(takes_now > 0, _beyond(charge(move.now, rule.mode)[:, r], has), 0)
    charged = charge(move.others, rule.mode)[:, r] + new @ needs
    after = np.where(takes_others + comes.sum(axis=1) > 0, _beyond(charged, has), 0)

    def say(m: int) -> str:
        charge_of = f"{amount(charged[m], resource)} {resource.name} charged of {amount(has[m], resource)}"
        return f"transient: {charge_of} while containers move"

    yield Blocker("transient", move.worsens(0, now, after), say)


def confidence(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Machines whose usage would not stay within capacity at this confidence."""
    r, resource, has = rule.resource, move.cluster.resources[rule.resource], move.cluster.machines.capacity[:, rule.resource]
    w = move.cluster.containers.workload[move.members]
    mean, variance = move.cluster.workloads.usage_mean[w, r].sum(), (move.cluster.workloads.usage_std[w, r] ** 2).sum()
    if not mean + variance:
        return
    d = quantile(rule.alpha)
    needs_now = _needs(*usage(move.now, r), d)
    others_mean, others_variance = usage(move.others, r)
    needs = _needs(others_mean + mean, others_variance + variance, d)
    most = has * (1 + TOLERANCE)
    now = np.where(needs_now > most, needs_now * (1 + TOLERANCE) - has, 0.0)  # the noise of a sum makes nothing worse
    after = np.where(needs > most, needs - has, 0.0)

    def say(m: int) -> str:
        need = f"{real_amount(needs[m], resource)} {resource.name}"
        return f"confidence: needs {need} at {rule.alpha!r}, has {amount(has[m], resource)}"

    yield Blocker("confidence", move.worsens(0, now, after), say)


def _needs(mean: FloatArray, variance: FloatArray, d: float) -> FloatArray:
    return np.asarray(mean + d * np.sqrt(variance), dtype=np.float64)


def pinned(move: CandidateMove, rule: Any) -> Iterator[Blocker]:
    """Every machine but the one where a pinned container ran."""
    before, machine = move.now.before, np.arange(len(move.cluster.machines.name))
    if before is None:
        return
    for c in np.intersect1d(move.members, rule.containers):
        if before[c] != UNPLACED:
            moves = (machine != move.now.machine_of[c]) | (machine == move.home)
            name = move.cluster.containers.name[c]
            ran_on = move.cluster.machines.name[before[c]]
            yield Blocker("pinned", (machine != before[c]) & moves, _always(f"pinned: '{name}' stays on machine '{ran_on}'"))


def _always(sentence: str) -> Callable[[int], str]:
    return lambda m: sentence


BLOCKERS: dict[str, Blocks] = {  # the first that blocks a machine is its reason
    "allow": not_allowed,
    "capacity": short,
    "anti-affinity": anti_affinity,
    "interference": interference,
    "spread": spread,
    "skew": skew,
    "dependency": dependency,
    "transient": transient,
    "confidence": confidence,
    "pinned": pinned,
}


def blockers(move: CandidateMove) -> Iterator[Blocker]:
    """All blockers of a move, in the fixed order of the reasons."""
    touching: dict[str, list[Rule]] = {kind: [] for kind in (*BLOCKERS, "co-locate")}
    workloads = set(move.cluster.containers.workload[move.members].tolist())
    services = set(move.cluster.workloads.service[sorted(workloads)].tolist())
    for rule in move.cluster.rules:
        if _touches(rule, workloads, services):
            touching[rule.kind].append(rule)
    for kind, blocks in BLOCKERS.items():
        for rule in touching[kind]:
            yield from blocks(move, rule)


def _touches(rule: Rule, workloads: set[int], services: set[int]) -> bool:
    """Can the rule be about these? A quick test: there may be tens of thousands of rules."""
    if isinstance(rule, Interference):
        return rule.a in workloads or rule.b in workloads
    if isinstance(rule, AntiAffinity | Allow):
        return not workloads.isdisjoint(rule.workloads)
    if isinstance(rule, Spread):
        return rule.service in services
    if isinstance(rule, Skew):
        return rule.workload in workloads or not workloads.isdisjoint(rule.counts)
    if isinstance(rule, Dependency):
        return rule.service in services or rule.on in services
    return True
