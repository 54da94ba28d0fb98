"""The state of a cluster as a scenario would change it, beside the state as it is; nothing moves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import PathLike
from bayplan.api.inspect import Inspection, inspect, write_report
from bayplan.api.what_if.scenario import ChangedCluster, WhatIf, what_if
from bayplan.model import Snapshot

if TYPE_CHECKING:
    from bayplan.report.table import Report


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhatIfState:
    """What a scenario changes, and the state before and after it."""

    changed: ChangedCluster
    before: Inspection
    after: Inspection

    @property
    def headline(self) -> str:
        """The state afterwards in one sentence."""
        return self.after.headline

    def content(self) -> "Report":
        """What changes, in sentences, then the state afterwards."""
        from bayplan.report.table import Sentence, report

        return report(*map(Sentence, self.changed.notes)) + self.after.content()

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The changes in words, both states as `show --json` prints them, and what has no machine left."""
        unplaced = self.changed.snapshot.placement.unplaced.tolist()
        names = self.changed.snapshot.cluster.containers.name
        return {
            "verb": "what-if",
            "headline": self.headline,
            "changes": list(self.changed.notes),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "without_machine": [names[c] for c in unplaced],
            "left_out": [{"name": reason.subject, "reason": reason.text} for reason in self.changed.left_out],
        }

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page about the state afterwards."""
        write_report(path, self.after, command=command)


def what_if_state(snapshot: Snapshot, *, what_if: WhatIf) -> WhatIfState:
    """The state of a cluster before and after a scenario, while nothing moves.

    - `what_if`: machines to drain, add, remove or let fail, replicas by workload, traffic times a factor.

    >>> import bayplan as bp
    >>> from bayplan.api.what_if.state import what_if_state
    >>> state = what_if_state(bp.generate("boutique"), what_if=bp.WhatIf(fail_zone=("zone=west",)))
    >>> len(state.to_dict()["without_machine"]) > 2
    True
    """
    changed = _changed(snapshot, what_if)
    return WhatIfState(changed=changed, before=inspect(snapshot), after=inspect(changed.snapshot))


def _changed(snapshot: Snapshot, scenario: WhatIf) -> ChangedCluster:
    return what_if(snapshot, scenario)
