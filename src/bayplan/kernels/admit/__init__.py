"""Admitting clusters of containers: prices over time, and the placement of one cluster."""

from bayplan.kernels.admit.warmup import warm_up

__all__ = ["warm_up"]
