"""What if: the cluster as it would be with machines added, gone or drained, other numbers of replicas, other traffic."""

from bayplan.api.what_if.scenario import ChangedCluster, WhatIf, what_if

__all__ = ["ChangedCluster", "WhatIf", "what_if"]
