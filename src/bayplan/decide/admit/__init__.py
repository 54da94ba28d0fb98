"""Accept and place, or refuse, clusters of containers as they arrive [Online clusters]."""

from collections.abc import Mapping

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.decision import (
    AdmissionDecision,
    PriceHistory,
    PriceParameters,
    Refusal,
    RefusalCause,
    RefusalGroup,
    RefusalKind,
    RefusalSummary,
    RunningRequest,
    SlotRates,
    summarise_refusals,
)
from bayplan.decide.admit.offline import offline
from bayplan.decide.admit.online import AdmissionRun, admit_stream, available, learned, primal_dual, swmoa
from bayplan.decide.admit.options import AdmitOptions, Admitter

ADMITTERS: Mapping[str, Admitter] = {
    "learned": learned,
    "primal-dual": primal_dual,
    "available": available,
    "swmoa": swmoa,
    "offline": offline,
}

__all__ = [
    "ADMITTERS",
    "Admission",
    "AdmissionDecision",
    "AdmissionRun",
    "AdmitOptions",
    "Admitter",
    "PriceHistory",
    "PriceParameters",
    "Refusal",
    "RefusalCause",
    "RefusalGroup",
    "RefusalKind",
    "RefusalSummary",
    "RunningRequest",
    "SlotRates",
    "admit_stream",
    "summarise_refusals",
]
