"""The state of a collected cluster: what `show` says of any cluster, and how many of its pods may move."""

from dataclasses import dataclass
from typing import Any

from bayplan.api.inspect import Inspection
from bayplan.kubernetes.collect.snapshot import Collected
from bayplan.kubernetes.measurements import NOT_MEASURED
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
        return self.inspection.content() + report(Sentence(self.sentence, "strong"), self._table(), *self._unattributed())

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

    def _unattributed(self) -> list[Table]:
        """The largest ends of traffic that are no workload of the cluster; nothing if there are none."""
        measured = self.collected.measurements
        columns = (
            TableColumn("no workload here", key="unattributed"),
            TableColumn(measured.traffic_unit, "number", key="rate"),
            TableColumn("of all traffic", "number", key="share"),
        )
        rows = [(Cell(one.name), Cell(f"{one.rate:,.4g}"), Cell(f"{one.share:.1%}")) for one in measured.unattributed]
        return [table(columns, rows)] if rows else []

    def to_dict(self) -> dict[str, Any]:
        """The object that `show --json` prints: that of any cluster, `pods`, and `measurements` if there are any."""
        stay = dict(self.collected.reasons().most_common())
        measured = self.collected.measurements
        known = {} if measured is NOT_MEASURED else {"measurements": measured.to_dict()}
        return {**self.inspection.to_dict(), "pods": {"movable": self.collected.movable, "stay": stay}, **known}
