"""Pipelines, one file per use case."""
