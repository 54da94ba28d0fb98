"""The Kubernetes adapter: what runs where is collected from an API server, and plans are carried out under its guards.

>>> import bayplan as bp
>>> shop = bp.kubernetes.read("kubectl.json")  # what kubectl get nodes,pods,... -A -o json printed; or observe(context="prod")
>>> len(shop.cluster.machines.name), len(shop.cluster.containers.name)
(4, 10)
"""

from bayplan.kubernetes.measure import MeasurementRequest, measure
from bayplan.kubernetes.measurements import Measurements, at_peak
from bayplan.kubernetes.prometheus import MeasurementSettings, TrafficQuery
from bayplan.kubernetes.snapshots import observe, read

__all__ = ["MeasurementRequest", "MeasurementSettings", "Measurements", "TrafficQuery", "at_peak", "measure", "observe", "read"]
