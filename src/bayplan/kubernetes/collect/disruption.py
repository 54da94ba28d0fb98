"""Disruption budgets: how many pods of a workload must be ready, and which pods no budget will ever let go."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.selectors import LabelSelector


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget:
    """A PodDisruptionBudget: which pods it is about, and how many of them may be down at once."""

    namespace: str
    name: str
    selector: LabelSelector
    least: str = ""  # minAvailable: a number or a percentage; empty if it is not stated
    most: str = ""  # maxUnavailable
    expected: int | None = None  # pods, as its controller counts them
    desired: int | None = None  # pods that must be healthy, as its controller says

    def may_be_down(self, pods: int) -> int:
        """How many of its pods may be down when all are there: by its controller, else by its own numbers."""
        if self.expected and self.desired is not None:
            return max(0, self.expected - self.desired)
        if self.most:
            return _number(self.most, pods)
        return max(0, pods - _number(self.least, pods)) if self.least else pods


def _number(text: str, of: int) -> int:
    """A number, or a percentage of the pods, rounded up as Kubernetes does for both."""
    return ceil(int(text[:-1]) * of / 100) if text.endswith("%") else int(text)


def disruption_budgets(items: Sequence[Json]) -> tuple[DisruptionBudget, ...]:
    """The budgets that objects state."""
    return tuple(map(_budget, items))


def _budget(item: Json) -> DisruptionBudget:
    spec, status, metadata = item.get("spec") or {}, item.get("status") or {}, item["metadata"]
    current = status.get("observedGeneration", 0) >= (metadata.get("generation") or 0) and "expectedPods" in status
    return DisruptionBudget(
        namespace=str(metadata.get("namespace", "")),
        name=str(metadata["name"]),
        selector=LabelSelector.of(spec.get("selector")),
        least=str(spec.get("minAvailable", "")),
        most=str(spec.get("maxUnavailable", "")),
        expected=int(status["expectedPods"]) if current else None,
        desired=int(status["desiredHealthy"]) if current and "desiredHealthy" in status else None,
    )
