"""Choosing timed requests: the local ratio passes, profiles over time."""


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
