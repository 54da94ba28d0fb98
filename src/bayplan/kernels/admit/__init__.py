"""Admitting clusters of containers: prices over time, and the placement of one cluster."""


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
