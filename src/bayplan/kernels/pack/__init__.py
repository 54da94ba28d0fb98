"""Packing workloads whose usage is random: filling machines, and the exact pricing of patterns."""


def warm_up() -> None:
    """Call everything that a decision calls."""
    from bayplan.kernels.pack.warmup import warm_up as call_all

    call_all()
