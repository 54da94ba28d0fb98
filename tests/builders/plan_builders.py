"""Short words for small migrations."""

from collections.abc import Iterable, Sequence
from typing import Any

from tests.builders.tiny_clusters import on

from bayplan.check.migration.referee import judge
from bayplan.check.migration.verdict import Verdict
from bayplan.model import Action, Cluster, Limits, Migration, Plan, Running, Step, Terms


def create(c: int, m: int) -> Step:
    return Step(Action.CREATE, c, m)


def delete(c: int, m: int) -> Step:
    return Step(Action.DELETE, c, m)


def plan(*batches: Iterable[Step]) -> Plan:
    return Plan(batches=tuple(tuple(batch) for batch in batches))


def migration(cluster: Cluster, start: Sequence[int], after: Sequence[int], **terms: Any) -> Migration:
    """From machines to machines; `alive` 0 unless stated, `limits` as keywords."""
    limits = Limits(**terms.pop("limits", {}))
    return Migration(
        cluster=cluster, start=Running.of(on(*start)), after=on(*after), terms=Terms(**{"alive": 0.0, **terms}, limits=limits)
    )


def said(verdict: Verdict) -> list[str]:
    """The sentences."""
    return [breach.sentence for breach in verdict.breaches]


def sentences(of: Migration, *batches: Iterable[Step]) -> list[str]:
    """What the referee says of a plan."""
    return said(judge(of, plan(*batches)))
