"""`machines_needed`: how many machines of which type do all containers need, from empty?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from bayplan.api.answer import Answer, PathLike
from bayplan.api.control import Control, ParallelKeywords
from bayplan.api.packing.question import Samples, instance_of
from bayplan.api.placement import finish_seconds
from bayplan.decide.pack.instance import PackInstance
from bayplan.decide.pack.machines_needed import MachinesNeeded
from bayplan.decide.pack.machines_needed import machines_needed as fewest_machines
from bayplan.errors import UsageError
from bayplan.model import IntArray, Placement, Snapshot
from bayplan.model.interrupt import stoppable
from bayplan.model.quantities import format_quantity

if TYPE_CHECKING:
    from bayplan.report.table import Report


class NeededType(NamedTuple):
    """How many machines of one type are needed."""

    name: str  # its capacity, for people
    needed: int
    available: int  # in the snapshot
    capacity: Mapping[str, str]  # exact, by resource, as in a file


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachinesNeededAnswer(Answer[Placement]):
    """How many machines are needed, by type, and a proven bound. Nothing is packed onto the machines there are."""

    instance: PackInstance
    need: MachinesNeeded

    @property
    def machines(self) -> int:
        """How many are needed."""
        return int(self.need.by_type.sum())

    @property
    def by_type(self) -> tuple[NeededType, ...]:
        """One entry per capacity that machines have."""
        from bayplan.report.amounts import written

        cluster = self.instance.problem.cluster
        capacities, counts = np.unique(cluster.machines.capacity, axis=0, return_counts=True)
        available = {tuple(c): int(count) for c, count in zip(capacities.tolist(), counts.tolist(), strict=True)}
        return tuple(
            NeededType(
                name=written(capacity.tolist(), cluster.resources),
                needed=int(needed),
                available=available[tuple(capacity.tolist())],
                capacity=self._exact(capacity),
            )
            for capacity, needed in zip(self.need.capacity, self.need.by_type, strict=True)
        )

    def _exact(self, capacity: IntArray) -> Mapping[str, str]:
        pairs = zip(self.instance.problem.cluster.resources, capacity.tolist(), strict=True)
        return {resource.name: format_quantity(amount, resource.scale) for resource, amount in pairs}

    @property
    def placed(self) -> int:
        """None: nothing is packed."""
        return 0

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.pack_tables import needed_headline

        return needed_headline(self.result, self.machines, self.instance.alpha, self.instance.resource)

    def content(self) -> "Report":
        """How many of each type, and what fits on none."""
        from bayplan.report.answers.decision_tables import frame
        from bayplan.report.answers.pack_tables import needed_report
        from bayplan.report.table import report

        frame_facts = frame(self.result, method=self.method, seed=self.seed, wall=self.seconds)
        return report(frame_facts) + needed_report([entry[:3] for entry in self.by_type], self.left_out)

    def details(self) -> Mapping[str, Any]:
        """How many of each type, at which confidence of which resource."""
        return {
            "machines": self.machines,
            "by_type": [entry._asdict() for entry in self.by_type],
            "confidence": self.instance.alpha,
            "resource": self.instance.resource.name,
        }

    def save(self, path: PathLike) -> None:
        """UsageError: there is no placement on the machines of the snapshot."""
        raise UsageError("machines_needed packs nothing; expected `pack` for a placement")

    def report(self, path: PathLike, *, command: str = "") -> None:
        """UsageError: there is no page about machines that do not exist yet."""
        raise UsageError("machines_needed packs nothing; expected `pack` for a page")


def machines_needed(
    snapshot: Snapshot,
    *,
    confidence: float | None = None,
    seconds: float = 30.0,
    seed: int = 0,
    confidence_of: Mapping[str, float] | None = None,
    resource: str | None = None,
    uncertainty: str = "gaussian",
    samples: Samples | None = None,
    **keywords: Unpack[ParallelKeywords],
) -> MachinesNeededAnswer:
    """How many machines of which type all containers need from empty, so that they overflow with at most a stated probability.

    A type is a capacity that machines of the snapshot have. The arguments are those of `pack`; the bound is proven.

    >>> import bayplan as bp
    >>> fleet = bp.generate("ucac", services=5, scale=0.02, machines=10)
    >>> answer = bp.machines_needed(fleet, confidence=0.999)
    >>> answer.machines >= answer.bound > 0
    True
    """
    control = Control.of(seconds, seed, keywords)
    instance = instance_of(
        snapshot,
        confidence=confidence,
        confidence_of=confidence_of,
        resource=resource,
        uncertainty=uncertainty,
        samples=samples,
        seed=seed,
    )
    control = control.after_compiling(("pack", "csp-machines"))
    budget = control.method_budget(finish_seconds(snapshot))
    with stoppable() as stop:
        need = fewest_machines(
            instance.problem,
            alpha_of=instance.alpha_of,
            budget=budget,
            seed=seed,
            progress=control.progress,
            engine=control.engine,
        )
        interrupted = stop.requested
    return MachinesNeededAnswer(
        verb="pack",
        method="csp-machines",
        seed=seed,
        result=need.result,
        seconds=control.seconds,
        interrupted=interrupted,
        input_notes=(*snapshot.notes, *instance.notes),
        instance=instance,
        need=need,
    )
