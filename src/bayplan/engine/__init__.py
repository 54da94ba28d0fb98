"""Where independent subproblems run: in this process, in a pool of processes, on Ray."""

from bayplan.engine.choose import ENGINES, engine_of
from bayplan.engine.jobs import ATTEMPTS, Engine, EngineLostError, Job, JobLoss, LossNotes, LossReport, Shared, log_loss

__all__ = [
    "ATTEMPTS",
    "ENGINES",
    "Engine",
    "EngineLostError",
    "Job",
    "JobLoss",
    "LossNotes",
    "LossReport",
    "Shared",
    "engine_of",
    "log_loss",
]
