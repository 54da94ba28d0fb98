"""Choosing timed requests: the local ratio passes, profiles over time, exchanges, admission by price."""


def warm_up() -> None:
    """Call everything that a decision calls."""
    from bayplan.kernels.schedule.warmup import warm_up as call_all

    call_all()
