"""Collocation in counts: annealing, partitioning, pricing of patterns."""


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
