"""The second adapter of the port: evictions, gates and placements on a Kubernetes cluster."""

from bayplan.kubernetes.execute.orchestrator import KubernetesOrchestrator
from bayplan.kubernetes.execute.overdue import Uninstalled, uninstall
from bayplan.kubernetes.execute.settings import ExecuteSettings

__all__ = ["ExecuteSettings", "KubernetesOrchestrator", "Uninstalled", "uninstall"]
