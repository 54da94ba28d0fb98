"""The referee of a running system: which instants violated a rule because of us."""

from bayplan.check.operation.instant import OURS, Instant, InstantKind, OperationViolation
from bayplan.check.operation.referee import OperationReferee, first_instants

__all__ = ["OURS", "Instant", "InstantKind", "OperationReferee", "OperationViolation", "first_instants"]
