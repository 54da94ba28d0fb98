"""A scheduler extender: kube-scheduler asks it which of the possible nodes a new pod should go to."""

from bayplan.kubernetes.extender.decisions import PATIENCE, Extender
from bayplan.kubernetes.extender.server import LISTEN, ExtenderServer
from bayplan.kubernetes.extender.watching import ClusterWatch

__all__ = ["LISTEN", "PATIENCE", "ClusterWatch", "Extender", "ExtenderServer"]
