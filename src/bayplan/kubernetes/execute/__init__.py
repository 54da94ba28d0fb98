"""The second adapter of the port: evictions, gates and placements on a Kubernetes cluster."""

from bayplan.kubernetes.execute.orchestrator import KubernetesOrchestrator
from bayplan.kubernetes.execute.settings import ExecuteSettings
from bayplan.kubernetes.execute.uninstall import Uninstalled, left_on_cluster, uninstall

__all__ = ["ExecuteSettings", "KubernetesOrchestrator", "Uninstalled", "left_on_cluster", "uninstall"]
