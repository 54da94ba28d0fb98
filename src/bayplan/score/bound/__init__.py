"""A proven lower bound of the objective."""

from bayplan.score.bound.lower_bound import lower_bound

__all__ = ["lower_bound"]
