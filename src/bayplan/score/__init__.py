"""What is good and what is valid."""

from bayplan.check import Violation, violations
from bayplan.score.affinity import gained_affinity, gained_shares, total_affinity
from bayplan.score.balance import balance_cost, communication_cost, crossing, residual, utilisation_cost
from bayplan.score.bound import lower_bound
from bayplan.score.bound.communication_bounds import Bounds
from bayplan.score.confidence import deviate, machine_ucac, ucac, usage, violation_probability
from bayplan.score.counts import containers_on, loads, placed_replicas, service_counts, workload_counts
from bayplan.score.empirical import violation_rate_of_samples, violation_rates_of_samples
from bayplan.score.gmrp import (
    GmrpCost,
    MoveCost,
    gmrp_cost,
    machine_overload,
    move_cost,
    moved,
    moves,
    overload_cost,
    target_cost,
)
from bayplan.score.monte_carlo import Truncation, violation_rate, violation_rates
from bayplan.score.normalise import bounds, normalised
from bayplan.score.peak import PeakOf, PeakUsage, UsageSeries, peak_usage
from bayplan.score.summary import HotMachine, Summary, summarise
from bayplan.score.terms import TERMS, score, stated_confidence, weighted
from bayplan.score.uncertainty import Uncertainty, effective, uncertainty_notes, with_usage
from bayplan.score.utilisation import ResourceUse, machine_utilisation, resource_use

__all__ = [
    "TERMS",
    "Bounds",
    "GmrpCost",
    "HotMachine",
    "MoveCost",
    "PeakOf",
    "PeakUsage",
    "ResourceUse",
    "Summary",
    "Truncation",
    "Uncertainty",
    "UsageSeries",
    "Violation",
    "balance_cost",
    "bounds",
    "communication_cost",
    "containers_on",
    "crossing",
    "deviate",
    "effective",
    "gained_affinity",
    "gained_shares",
    "gmrp_cost",
    "loads",
    "lower_bound",
    "machine_overload",
    "machine_ucac",
    "machine_utilisation",
    "move_cost",
    "moved",
    "moves",
    "normalised",
    "overload_cost",
    "peak_usage",
    "placed_replicas",
    "residual",
    "resource_use",
    "score",
    "service_counts",
    "stated_confidence",
    "summarise",
    "target_cost",
    "total_affinity",
    "ucac",
    "uncertainty_notes",
    "usage",
    "utilisation_cost",
    "violation_probability",
    "violation_rate",
    "violation_rate_of_samples",
    "violation_rates",
    "violation_rates_of_samples",
    "violations",
    "weighted",
    "with_usage",
    "workload_counts",
]
