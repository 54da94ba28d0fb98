"""The referee of a running system: which instants violated a rule because of us."""

from bayplan.check.operation.instant import OURS, Instant, InstantKind, OperationViolation

__all__ = ["OURS", "Instant", "InstantKind", "OperationViolation"]
