"""Choosing timed requests: the local ratio passes, profiles over time, exchanges, admission by price."""

from bayplan.kernels.schedule.warmup import warm_up

__all__ = ["warm_up"]
