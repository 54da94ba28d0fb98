"""Why a container is where it is, which machines could take it, and what blocks the others."""

from bayplan.score.explain.explanation import Explanation, Partner, explain, fit_summary

__all__ = ["Explanation", "Partner", "explain", "fit_summary"]
