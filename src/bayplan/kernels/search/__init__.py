"""The kernels of the search: one state, its moves, its drivers."""


def warm_up() -> None:
    """Call everything that a decision calls."""
    from bayplan.kernels.search.warmup import warm_up as call_all

    call_all()
