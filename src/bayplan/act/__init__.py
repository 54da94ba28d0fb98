"""The referee of migration plans, and a simulator that carries them out."""

from bayplan.act.failures import CreateFails, DeleteFails, Failure, MachineDies, NeverEnds
from bayplan.act.judge import judge
from bayplan.act.outcome import Event, Fate, Outcome
from bayplan.act.simulator import simulate
from bayplan.act.verdict import BatchRecord, Breach, Verdict

__all__ = [
    "BatchRecord",
    "Breach",
    "CreateFails",
    "DeleteFails",
    "Event",
    "Failure",
    "Fate",
    "MachineDies",
    "NeverEnds",
    "Outcome",
    "Verdict",
    "judge",
    "simulate",
]
