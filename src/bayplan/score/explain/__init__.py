"""Why a container is where it is, which machines could take it, and what blocks the others."""

from bayplan.score.explain.explanation import Explanation, Partner, explain, fit_reason, fit_summary
from bayplan.score.explain.workload import ReplicaGroup, WorkloadExplanation, explain_workload

__all__ = [
    "Explanation",
    "Partner",
    "ReplicaGroup",
    "WorkloadExplanation",
    "explain",
    "explain_workload",
    "fit_reason",
    "fit_summary",
]
