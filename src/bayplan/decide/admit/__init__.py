"""Accept and place, or refuse, clusters of containers as they arrive (001)."""

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.causes import Cause, Kind, Refusal
from bayplan.decide.admit.online import Run, run
from bayplan.decide.admit.registry import ADMITTERS
from bayplan.decide.admit.signature import AdmitOptions, Admitter
from bayplan.decide.admit.verdict import History, Parameters, Rates, Running, Verdict

__all__ = [
    "ADMITTERS",
    "Admission",
    "AdmitOptions",
    "Admitter",
    "Cause",
    "History",
    "Kind",
    "Parameters",
    "Rates",
    "Refusal",
    "Run",
    "Running",
    "Verdict",
    "run",
]
