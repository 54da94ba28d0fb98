"""Traffic and usage of workloads from Prometheus."""

from bayplan.kubernetes.prometheus.discovery import connected
from bayplan.kubernetes.prometheus.measure import MeasurementSettings, measured
from bayplan.kubernetes.prometheus.presets import PRESETS, Preset, TrafficQuery
from bayplan.kubernetes.prometheus.server import Prometheus
from bayplan.kubernetes.prometheus.workload_names import KnownPod, KnownService, KnownWorkloads

__all__ = [
    "PRESETS",
    "KnownPod",
    "KnownService",
    "KnownWorkloads",
    "MeasurementSettings",
    "Preset",
    "Prometheus",
    "TrafficQuery",
    "connected",
    "measured",
]
