"""Choose which timed requests to serve, and on which machine (002)."""
