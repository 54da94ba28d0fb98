"""A snapshot at a stated confidence: which rules, which uncertainty, and the problem that a packer gets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayplan.decide.pack.problem import PackProblem, pack_problem
from bayplan.errors import UsageError, did_you_mean, expect_one_of
from bayplan.model import BoolArray, Cluster, Confidence, FloatArray, Objective, Resource, Rule, Snapshot
from bayplan.score.uncertainty import Uncertainty, effective, uncertainty_notes, with_usage
from bayplan.words import first_names

DOUBTFUL = 1.0  # standard deviations from the mean to 0: below, a Gaussian usage is often negative
NAMED = 3  # workloads in one note


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsageModel:
    """How usage varies."""

    uncertainty: str = Uncertainty.GAUSSIAN
    samples: Mapping[int, FloatArray] = field(default_factory=dict)  # workload -> usage of the main resource in base units
    seed: int = 0  # of what is drawn from samples

    def __post_init__(self) -> None:
        expect_one_of(self.uncertainty, (str(model) for model in Uncertainty), "uncertainty")
        if self.uncertainty == Uncertainty.EMPIRICAL and not self.samples:
            raise UsageError("uncertainty 'empirical' needs measured usage; expected samples, too")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackInstance:
    """A snapshot with the stated confidence, and the problem that a packer gets."""

    snapshot: Snapshot  # usage as the input and the samples state it, with the rules of the problem
    problem: PackProblem  # usage as the uncertainty model sees it
    alpha: float  # of the main resource
    alpha_of: FloatArray | None  # (workload,) a higher confidence where it runs; 0 where none is stated; None if for none
    usage: UsageModel
    notes: tuple[str, ...] = ()

    @property
    def resource(self) -> Resource:
        """The one whose UCaC counts."""
        return self.snapshot.cluster.resources[self.problem.main.resource]

    def at(self, alpha: float) -> "PackInstance":
        """The same at another confidence."""
        cluster = self.snapshot.cluster
        rules = tuple(_with_alpha(rule, alpha) for rule in cluster.rules)
        snapshot = replace(self.snapshot, cluster=replace(cluster, rules=rules))
        return _instance(snapshot, self.problem.main.resource, self.alpha_of, self.usage)

    def on(self, cluster: Cluster) -> "PackInstance":
        """The same on a cluster with more machines. What moves cost between those is not known, and no packer asks."""
        snapshot = replace(self.snapshot, cluster=cluster, objective=Objective.default(cluster))
        return _instance(snapshot, self.problem.main.resource, self.alpha_of, self.usage)


def pack_instance(
    snapshot: Snapshot,
    *,
    confidence: float | None = None,
    alpha_of: FloatArray | None = None,
    resource: str | None = None,
    usage: UsageModel,
) -> PackInstance:
    """The instance of a snapshot; UsageError if its parts do not go together.

    `confidence` replaces that of the snapshot's rules; where the resource that counts has no such rule, one is added.
    """
    cluster = snapshot.cluster
    if not cluster.machines.name:
        raise UsageError(f"cluster '{cluster.name}' has no machines; expected at least one")
    main = main_resource(cluster, resource)
    confident = replace(cluster, rules=_confident(cluster, confidence, main))
    measured = with_usage(confident, main, usage.samples) if usage.samples else confident
    return _instance(replace(snapshot, cluster=measured), main, alpha_of, usage)


def main_resource(cluster: Cluster, name: str | None = None) -> int:
    """The resource of that name; without one, that of the first confidence rule, else the first. UsageError if it has none."""
    names = [resource.name for resource in cluster.resources]
    if not names:
        raise UsageError(f"cluster '{cluster.name}' has no resources; expected one whose usage varies")
    if name is None:
        return next((rule.resource for rule in _stated(cluster.rules)), 0)
    if name not in names:
        hint = did_you_mean(name, names)
        raise UsageError(f"no resource '{name}' in cluster '{cluster.name}'; expected {' or '.join(names)}{hint}")
    return names.index(name)


def expect_confidence(value: float, subject: str) -> float:
    """The confidence; UsageError about the `subject` if it is not above 0.5 and below 1."""
    if not 0.5 < value < 1:
        example = value / 100 if 50 < value < 100 else 0.999
        raise UsageError(f"{subject}: {value:g} is no confidence; expected above 0.5 and below 1, such as {example:.10g}")
    return value


def _instance(snapshot: Snapshot, main: int, alpha_of: FloatArray | None, usage: UsageModel) -> PackInstance:
    """The instance of a snapshot whose rules and usage are final."""
    assumed = snapshot.cluster
    for rule in _stated(assumed.rules):
        alphas = [rule.alpha] if alpha_of is None else np.unique(np.maximum(alpha_of, rule.alpha)).tolist()
        model = usage.uncertainty if rule.resource == main or not usage.samples else Uncertainty.GAUSSIAN
        assumed = effective(assumed, rule.resource, alphas, model, usage.samples or None, usage.seed)
    problem = pack_problem(assumed, snapshot.placement, alpha_of=alpha_of, main=main)
    alpha = next(rule.alpha for rule in _stated(assumed.rules) if rule.resource == main)
    notes = (*_notes(snapshot, problem), *uncertainty_notes(assumed, main, alpha, usage.uncertainty, usage.samples))
    return PackInstance(snapshot=snapshot, problem=problem, alpha=alpha, alpha_of=alpha_of, usage=usage, notes=notes)


def _confident(cluster: Cluster, confidence: float | None, main: int) -> tuple[Rule, ...]:
    """The rules, their confidence replaced; one is added where the resource that counts has none."""
    if confidence is not None:
        expect_confidence(confidence, "confidence")
    rules = tuple(_with_alpha(rule, confidence) for rule in cluster.rules)
    for rule in _stated(rules):
        expect_confidence(rule.alpha, f"the confidence rule about '{cluster.resources[rule.resource].name}'")
    alpha = next((rule.alpha for rule in _stated(rules)), confidence)
    if alpha is None:
        raise UsageError("no confidence is stated; expected a confidence, such as 0.999, or a confidence rule in the input")
    has_rule = any(rule.resource == main for rule in _stated(rules))
    return rules if has_rule else (*rules, Confidence(resource=main, alpha=alpha))


def _stated(rules: Sequence[Rule]) -> list[Confidence]:
    return [rule for rule in rules if isinstance(rule, Confidence)]


def _with_alpha(rule: Rule, alpha: float | None) -> Rule:
    return replace(rule, alpha=alpha) if isinstance(rule, Confidence) and alpha is not None else rule


def _notes(snapshot: Snapshot, problem: PackProblem) -> Iterator[str]:
    """What a user should know about the input before believing the answer."""
    cluster, main, packed = snapshot.cluster, problem.main, problem.unplaced > 0
    if not packed.any():
        runs = len(snapshot.placement.placed)
        yield f"nothing to pack: all {runs:,} containers have a machine" if runs else "nothing to pack: there are no containers"
    name, std = cluster.resources[main.resource].name, np.sqrt(main.variance)
    unused = packed & (main.mean == 0) & (std == 0)
    if unused.any():
        yield f"{_names(cluster, unused)}: usage of {name} is 0, so any number of them fits"
    wide = packed & (std > 0) & (main.mean < DOUBTFUL * std)
    if wide.any():
        yield (
            f"{_names(cluster, wide)}: usage of {name} deviates by more than its mean; "
            "a Gaussian would often be below 0: see --uncertainty"
        )
    if packed.any() and not main.variance[packed].any():
        yield f"usage of {name} does not vary: at any confidence this is plain bin packing"


def _names(cluster: Cluster, which: BoolArray) -> str:
    names = [cluster.workloads.name[w] for w in np.flatnonzero(which).tolist()]
    return first_names(names, NAMED)
