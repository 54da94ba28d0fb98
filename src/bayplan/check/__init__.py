"""The referee: every broken rule, one sentence each. It shares no code with what it judges."""

from bayplan.check.admission import check_admission
from bayplan.check.placement.confidence import TOLERANCE
from bayplan.check.placement.referee import check, violations
from bayplan.check.schedule import check_schedule
from bayplan.check.violation import RUNNING, Violation

__all__ = ["RUNNING", "TOLERANCE", "Violation", "check", "check_admission", "check_schedule", "violations"]
