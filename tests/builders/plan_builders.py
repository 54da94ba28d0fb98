"""Short builders of small migrations and plans."""

from collections.abc import Iterable, Sequence
from typing import Any

from tests.builders.tiny_clusters import on

from bayplan.check import PlanCheck, check_migration
from bayplan.model import Action, Cluster, Migration, MigrationPolicy, Plan, Running, Step, StepLimits


def create(c: int, m: int) -> Step:
    return Step(Action.CREATE, c, m)


def delete(c: int, m: int) -> Step:
    return Step(Action.DELETE, c, m)


def plan(*batches: Iterable[Step]) -> Plan:
    return Plan(batches=tuple(tuple(batch) for batch in batches))


def migration(cluster: Cluster, start: Sequence[int], target: Sequence[int], **policy: Any) -> Migration:
    """From machines to machines; `alive` 0 unless stated, `limits` as keywords."""
    limits = StepLimits(**policy.pop("limits", {}))
    return Migration(
        cluster=cluster,
        start=Running.of(on(*start)),
        target=on(*target),
        policy=MigrationPolicy(**{"alive": 0.0, **policy}, limits=limits),
    )


def sentences_of(checked: PlanCheck) -> list[str]:
    """The sentences of all violations."""
    return [violation.sentence for violation in checked.violations]


def sentences(of: Migration, *batches: Iterable[Step]) -> list[str]:
    """What the referee reports about a plan."""
    return sentences_of(check_migration(of, plan(*batches)))
