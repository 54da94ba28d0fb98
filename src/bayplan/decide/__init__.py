"""Decisions: functions from a problem to a result, independent of each other."""
