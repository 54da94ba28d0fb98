"""The state of a collected cluster: what `show` says of any cluster, and how many of its pods may move."""

from dataclasses import dataclass
from typing import Any

from bayplan.api.inspect import Inspection
from bayplan.kubernetes.collect.snapshot import Collected
from bayplan.operate.orchestrator import Phase
from bayplan.report.table import Cell, Report, Sentence, Table, TableColumn, count_cell, report, table
from bayplan.words import count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedInspection:
    """The state of a cluster of Kubernetes."""

    inspection: Inspection
    collected: Collected

    def content(self) -> Report:
        """The state, then how many pods may move, and why the others do not."""
        return self.inspection.content() + report(Sentence(self.sentence, "strong"), self._table())

    @property
    def sentence(self) -> str:
        """'40 of 60 running pods may move now; 2 pods wait for a node'."""
        pods = self.collected.pods.values()
        waiting = sum(pod.phase is Phase.PENDING for pod in pods)
        tail = f"; {count(waiting, 'pod')} without a node" if waiting else ""
        return f"{self.collected.movable:,} of {count(len(pods) - waiting, 'running pod')} may move now{tail}"

    def _table(self) -> Table:
        columns = (
            TableColumn("pods", "number"),
            TableColumn("why they stay", key="reason"),
            TableColumn("such as", key="example"),
        )
        examples = {reason: name for name, reason in reversed({**self.collected.resting, **self.collected.unmovable}.items())}
        rows = [
            (count_cell(number), Cell(reason), Cell(examples.get(reason, "")))
            for reason, number in self.collected.reasons().most_common()
        ]
        return table(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """The object that `show --json` prints: that of any cluster, and `pods`."""
        stay = dict(self.collected.reasons().most_common())
        return {**self.inspection.to_dict(), "pods": {"movable": self.collected.movable, "stay": stay}}
