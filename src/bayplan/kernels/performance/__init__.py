"""Requests that walk a call graph over machines that share their processor: a discrete-event simulation."""


def warm_up() -> None:
    """Call everything that a simulation calls."""
    from bayplan.kernels.performance.warmup import warm_up as call_all

    call_all()
