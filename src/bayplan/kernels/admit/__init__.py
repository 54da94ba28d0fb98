"""Admitting clusters of containers: prices over time, and the placement of one cluster."""


def warm_up() -> None:
    """Call everything that a decision calls."""
    from bayplan.kernels.admit.warmup import warm_up as call_all

    call_all()
