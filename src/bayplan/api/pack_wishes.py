"""What a user wants of `pack`, in words, made into a problem: confidence, services that need more of it, kind of uncertainty."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from bayplan.api.wishes import called
from bayplan.decide.pack import PackProblem, pack_problem
from bayplan.errors import UsageError
from bayplan.formats.samples import read_samples
from bayplan.model import BoolArray, Cluster, Confidence, FloatArray, Resource, Rule, Snapshot, floats
from bayplan.score.uncertainty import Uncertainty, effective, uncertainty_notes, with_usage

DOUBTFUL = 1.0  # deviations from the mean to nothing: below, a Gaussian usage is often negative
NAMED = 3  # services in one note


@dataclass(frozen=True, slots=True, kw_only=True)
class PackWishes:
    """As they stand on the command line."""

    confidence: float | None = None  # instead of the alpha of the input's confidence rules
    confidence_of: Sequence[str] = ()  # NAME=ALPHA
    resource: str | None = None  # whose UCaC counts
    uncertainty: str = Uncertainty.GAUSSIAN
    samples: Path | None = None  # what was measured, of that resource
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A snapshot with the confidence that was asked for, and the problem that a packer gets."""

    snapshot: Snapshot  # as the input and the samples say, with the rules of the problem
    problem: PackProblem  # usage as the uncertainty model sees it
    alpha: float  # of the main resource
    alpha_of: FloatArray | None  # (workload,) what services ask for by name; None if none does
    wishes: PackWishes
    samples: Mapping[int, FloatArray]  # workload -> usage of the main resource in base units; empty if none were given
    notes: tuple[str, ...] = ()

    @property
    def resource(self) -> Resource:
        """The one whose UCaC counts."""
        return self.snapshot.cluster.resources[self.problem.main.resource]

    def at(self, alpha: float) -> "Question":
        """The same question at another confidence."""
        return _question(self.snapshot, replace(self.wishes, confidence=alpha), self.problem.main.resource, self.samples)

    def on(self, cluster: Cluster) -> "Question":
        """The same question about a cluster with more machines."""
        snapshot = replace(self.snapshot, cluster=cluster)
        return _question(snapshot, self.wishes, self.problem.main.resource, self.samples)


def question_of(snapshot: Snapshot, wishes: PackWishes) -> Question:
    """The question that a snapshot and a user's wishes ask; UsageError if they do not go together."""
    _expect_sense(snapshot.cluster, wishes)
    cluster = replace(snapshot.cluster, rules=_confident(snapshot.cluster, wishes))
    main = _main(cluster, wishes)
    samples = {} if wishes.samples is None else read_samples(wishes.samples, cluster, main)
    measured = with_usage(cluster, main, samples) if samples else cluster
    return _question(replace(snapshot, cluster=measured), wishes, main, samples)


def _question(snapshot: Snapshot, wishes: PackWishes, main: int, samples: Mapping[int, FloatArray]) -> Question:
    """The question, all of whose parts are known."""
    rules = tuple(_with_alpha(rule, wishes.confidence) for rule in snapshot.cluster.rules)
    asked = replace(snapshot, cluster=replace(snapshot.cluster, rules=rules))
    alpha_of = _alpha_of(asked.cluster, wishes.confidence_of)
    seen = asked.cluster
    for rule in _stated(rules):
        alphas = [rule.alpha] if alpha_of is None else np.unique(np.maximum(alpha_of, rule.alpha)).tolist()
        model = wishes.uncertainty if rule.resource == main or not samples else Uncertainty.GAUSSIAN
        seen = effective(seen, rule.resource, alphas, model, samples or None, wishes.seed)
    problem = pack_problem(seen, snapshot.placement, alpha_of=alpha_of, main=main)
    alpha = next(rule.alpha for rule in _stated(rules) if rule.resource == main)
    notes = (*_notes(asked, problem), *uncertainty_notes(seen, main, alpha, wishes.uncertainty, samples))
    return Question(snapshot=asked, problem=problem, alpha=alpha, alpha_of=alpha_of, wishes=wishes, samples=samples, notes=notes)


def _expect_sense(cluster: Cluster, wishes: PackWishes) -> None:
    if wishes.uncertainty not in list(Uncertainty):
        raise UsageError(f"no uncertainty '{wishes.uncertainty}'; expected one of {', '.join(Uncertainty)}")
    if wishes.uncertainty == Uncertainty.EMPIRICAL and wishes.samples is None:
        raise UsageError("--uncertainty empirical needs what was measured: expected --samples FILE, too")
    if not cluster.machines.name:
        raise UsageError(f"cluster '{cluster.name}' has no machines; expected at least one")
    if not cluster.resources:
        raise UsageError(f"cluster '{cluster.name}' has no resources; expected one whose usage varies")


def expect_alpha(value: float, what: str) -> float:
    """The confidence; UsageError about `what` if it is not above 0.5 and below 1."""
    if not 0.5 < value < 1:
        raise UsageError(f"{what}: {value:g} is no confidence; expected above 0.5 and below 1, such as 0.999")
    return value


def _confident(cluster: Cluster, wishes: PackWishes) -> tuple[Rule, ...]:
    """The rules, their confidence replaced; one is added where the resource that counts has none."""
    if wishes.confidence is not None:
        expect_alpha(wishes.confidence, "--confidence")
    rules = tuple(_with_alpha(rule, wishes.confidence) for rule in cluster.rules)
    for rule in _stated(rules):
        expect_alpha(rule.alpha, f"the confidence rule about '{cluster.resources[rule.resource].name}'")
    alpha = next((rule.alpha for rule in _stated(rules)), wishes.confidence)
    if alpha is None:
        raise UsageError("no confidence is stated; expected --confidence, such as 0.999, or a confidence rule in the input")
    named = _named(cluster, wishes.resource)
    lacks = not _stated(rules) if named is None else all(rule.resource != named for rule in _stated(rules))
    return (*rules, Confidence(resource=named or 0, alpha=alpha)) if lacks else rules


def _main(cluster: Cluster, wishes: PackWishes) -> int:
    named = _named(cluster, wishes.resource)
    return _stated(cluster.rules)[0].resource if named is None else named


def _named(cluster: Cluster, name: str | None) -> int | None:
    names = [resource.name for resource in cluster.resources]
    if name is not None and name not in names:
        raise UsageError(f"no resource '{name}' in cluster '{cluster.name}'; expected {' or '.join(names)}")
    return None if name is None else names.index(name)


def _stated(rules: Sequence[Rule]) -> list[Confidence]:
    return [rule for rule in rules if isinstance(rule, Confidence)]


def _with_alpha(rule: Rule, alpha: float | None) -> Rule:
    return replace(rule, alpha=alpha) if isinstance(rule, Confidence) and alpha is not None else rule


def _alpha_of(cluster: Cluster, pairs: Sequence[str]) -> FloatArray | None:
    """(workload,) the confidence that each asks for by name; 0 where it asks for none."""
    if not pairs:
        return None
    alpha = np.zeros(len(cluster.workloads.name))
    for pair in pairs:
        name, equals, value = pair.rpartition("=")
        what = f"--confidence-of '{pair}'"
        if not equals:
            raise UsageError(f"{what}: expected NAME=ALPHA, NAME a service or a workload, or a pattern of names")
        named = _called(cluster, name)
        alpha[named] = np.maximum(alpha[named], expect_alpha(_number(value, what), what))
    return floats(alpha)


def _called(cluster: Cluster, pattern: str) -> list[int]:
    """Workloads whose service is called so, or who are called so themselves."""
    service = [fnmatchcase(name, pattern) for name in cluster.services.name]
    of_service = [w for w, s in enumerate(cluster.workloads.service.tolist()) if service[s]]
    if of_service:
        return of_service
    hit = called(cluster, pattern, "with a confidence of its own")
    return [int(w) for w in np.unique(cluster.containers.workload[hit])]


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{what}: '{text}' is not a number; expected a confidence such as 0.999") from None


def _notes(snapshot: Snapshot, problem: PackProblem) -> Iterator[str]:
    """What a user should know about the input before believing the answer."""
    cluster, main, waiting = snapshot.cluster, problem.main, problem.unplaced > 0
    if not waiting.any():
        runs = len(snapshot.placement.placed)
        yield f"nothing waits: all {runs:,} containers have a machine" if runs else "nothing waits: there are no containers"
    name, std = cluster.resources[main.resource].name, np.sqrt(main.variance)
    nothing = waiting & (main.mean == 0) & (std == 0)
    if nothing.any():
        yield f"{_services(cluster, nothing)}: usage of {name} is 0, so any number of them fits"
    wide = waiting & (std > 0) & (main.mean < DOUBTFUL * std)
    if wide.any():
        yield (
            f"{_services(cluster, wide)}: usage of {name} deviates by more than its mean; "
            "a Gaussian would often be below 0: see --uncertainty"
        )
    if waiting.any() and not main.variance[waiting].any():
        yield f"usage of {name} does not vary: at any confidence this is plain bin packing"


def _services(cluster: Cluster, which: BoolArray) -> str:
    names = [cluster.workloads.name[w] for w in np.flatnonzero(which).tolist()]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
