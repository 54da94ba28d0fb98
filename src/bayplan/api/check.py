"""Ask the referee: is every rule kept, by a placement, by accepted cluster requests, by a schedule?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayplan.check import Violation, check_admission, check_schedule, violations
from bayplan.model import Acceptance, Fleet, Placement, Schedule, Snapshot, TimedRequests
from bayplan.score.summary import summarise

if TYPE_CHECKING:
    from bayplan.formats.streams import Stream
    from bayplan.report.table import Report


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckResult:
    """What the referee says: true if every rule is kept, else one violation after the other."""

    name: str
    violations: tuple[Violation, ...]
    score: Mapping[str, float] = field(default_factory=dict)
    skipped: int = 0  # requests of the input that were left out because of their faults

    @property
    def valid(self) -> bool:
        """Is every rule kept?"""
        return not self.violations

    def __bool__(self) -> bool:
        return self.valid

    def __iter__(self) -> Iterator[Violation]:
        return iter(self.violations)

    def __len__(self) -> int:
        return len(self.violations)

    def content(self) -> "Report":
        """The verdict, and one sentence per violation."""
        from bayplan.report.table import Sentence, report

        verdict, *sentences = self.lines()
        return report(Sentence(verdict, "bad" if self.violations else "good"), *map(Sentence, sentences))

    def lines(self) -> list[str]:
        """The verdict, then every violation, each in one sentence."""
        from bayplan.report.violations import verdict

        return [verdict(self.violations), *map(str, self.violations)]

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The object that `check --json` prints."""
        from bayplan.report.json import plain

        answer = {
            "verb": "check",
            "name": self.name,
            "valid": self.valid,
            "violated": len(self.violations),
            "score": self.score,
            "violations": [{**plain(violation), "sentence": violation.sentence} for violation in self.violations],
            "skipped": self.skipped,
        }
        plain_answer: dict[str, Any] = plain(answer)
        return plain_answer

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content())


def check(snapshot: Snapshot, *, before: Placement | None = None) -> CheckResult:
    """What the referee says about a placement: every violated rule, one sentence each.

    With `before`, the rules about moves (transient, pinned, nothing lost) are checked too.

    >>> import bayplan as bp
    >>> verdict = bp.check(bp.generate("boutique"))
    >>> verdict.valid, len(verdict.violations)
    (True, 0)
    """
    state = summarise(snapshot, before)
    violated = tuple(violations(snapshot.cluster, snapshot.placement, before))
    return CheckResult(name=snapshot.cluster.name, violations=violated, score=state.score)


def check_accepted(stream: "Stream", acceptance: Acceptance, *, name: str = "") -> CheckResult:
    """What the referee says about an answer of `admit`: do the accepted requests fit zones and links at all times?"""
    requests, accepted = stream.admission.requests, acceptance.accepted.tolist()
    return CheckResult(
        name=name,
        score={"value": sum(requests[i].value for i in accepted), "served": len(accepted) / max(1, len(requests))},
        violations=check_admission(stream.admission, acceptance),
        skipped=stream.skipped,
    )


def check_served(requests: TimedRequests, schedule: Schedule, fleet: Fleet, *, name: str = "") -> CheckResult:
    """What the referee says about an answer of `schedule`: is no machine over capacity at any time?"""
    served = schedule.served
    return CheckResult(
        name=name,
        score={"value": float(requests.value[served].sum()), "served": len(served) / max(1, len(requests.name))},
        violations=check_schedule(requests, schedule, fleet),
    )
