"""Decide on which machine every container runs, prove how good it is, and plan the moves."""

__version__ = "0.1.0"
