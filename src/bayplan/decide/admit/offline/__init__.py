"""The offline optimum and its bounds: what an online answer is measured against."""

from bayplan.decide.admit.offline.solve import offline, offline_bound

__all__ = ["offline", "offline_bound"]
