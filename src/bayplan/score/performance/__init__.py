"""What a placement is worth in milliseconds: a model of requests that walk the call graph over machines that queue."""

from bayplan.score.performance.assumptions import Assumptions
from bayplan.score.performance.formula import (
    PairPerformance,
    Performance,
    PerformanceChange,
    pair_performance,
    performance_change,
    performance_of,
    service_max_load,
    walks_of,
)
from bayplan.score.performance.walk_latency import Walks

__all__ = [
    "Assumptions",
    "PairPerformance",
    "Performance",
    "PerformanceChange",
    "Walks",
    "pair_performance",
    "performance_change",
    "performance_of",
    "service_max_load",
    "walks_of",
]
