"""The referee: every broken rule, one sentence each. It shares no code with what it judges."""

from bayplan.score.check.admission import check_admission
from bayplan.score.check.confidence import TOLERANCE
from bayplan.score.check.referee import check, violations
from bayplan.score.check.schedule import check_schedule
from bayplan.score.check.violation import RUNNING, Violation

__all__ = ["RUNNING", "TOLERANCE", "Violation", "check", "check_admission", "check_schedule", "violations"]
