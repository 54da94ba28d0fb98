"""The names that others may use. A change here is a change for all packages."""

import bayplan.model

NAMES = """
GAINS MACHINE NO_LIMIT RULES UNPLACED Acceptance Action Allow AllowedMachines AntiAffinity BalanceTarget BoolArray Budget
Capacity Clock Cluster ClusterRequest ClusterRequests CoLocate Confidence Containers Dependency Fleet
FloatArray IntArray Interference Level
Machines Migration MigrationPolicy MoveCosts Objective Pinned Placement Plan Progress Reason Resource Result Rule Running
Schedule Services Skew Snapshot Spread
Status Step StepLimits Term Tick TimedRequests Traffic Transient TransientMode Way Workloads Zones allowed floats ints
gap_closed machine_level relabelled silent singled_out verdict
"""


def test_exported_names_are_pinned():
    assert sorted(bayplan.model.__all__) == sorted(NAMES.split())
    assert all(hasattr(bayplan.model, name) for name in NAMES.split())


def test_every_rule_is_listed_under_its_own_kind():
    assert {kind: rule.kind for kind, rule in bayplan.model.RULES.items()} == {kind: kind for kind in bayplan.model.RULES}
    assert len(bayplan.model.RULES) == 10
