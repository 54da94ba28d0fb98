"""The experiments of [Online clusters]: placing one cluster of containers, and choosing which clusters to accept."""
