"""Accept and place, or refuse, clusters of containers as they arrive (001)."""
