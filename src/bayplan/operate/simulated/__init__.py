"""A simulated orchestrator: a cluster in virtual time, with a scheduler, churn and faults on demand."""

from bayplan.operate.simulated.faults import NO_FAULTS, Faults, FaultyTime, ObservationFault, StepFault
from bayplan.operate.simulated.settings import BUSY, CALM, CHURN, MONDAY, QUIET, Churn, SimulatedSettings, preset
from bayplan.operate.simulated.simulated_orchestrator import SimulatedOrchestrator

__all__ = [
    "BUSY",
    "CALM",
    "CHURN",
    "MONDAY",
    "NO_FAULTS",
    "QUIET",
    "Churn",
    "Faults",
    "FaultyTime",
    "ObservationFault",
    "SimulatedOrchestrator",
    "SimulatedSettings",
    "StepFault",
    "preset",
]
