"""Every referee: violations, one sentence each. It shares no code with what it checks."""

from bayplan.check.admission import check_admission
from bayplan.check.migration.plan_check import PlanCheck, PlanViolation
from bayplan.check.migration.referee import check_migration
from bayplan.check.placement.referee import check, violations
from bayplan.check.schedule import check_schedule
from bayplan.check.violation import RUNNING, TOLERANCE, Violation

__all__ = [
    "RUNNING",
    "TOLERANCE",
    "PlanCheck",
    "PlanViolation",
    "Violation",
    "check",
    "check_admission",
    "check_migration",
    "check_schedule",
    "violations",
]
