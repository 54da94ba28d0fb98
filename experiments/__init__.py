"""Experiments: settings, scripts, raw results."""
