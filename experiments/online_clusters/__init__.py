"""The experiments of 001: placing one cluster of containers, and choosing which clusters to accept."""
