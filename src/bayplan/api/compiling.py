"""A machine's first use of kernels: they are compiled before a user's seconds begin."""

from collections.abc import Callable

from bayplan.model import Budget

LOADING = 1.0  # seconds to load compiled kernels, at most


def compiled(warm_up: Callable[[], None]) -> float:
    """Seconds, beyond those of loading them, that it took to compile kernels.

    Who asks for a budget does not mean these: the answer would be poor because the compiler was slow.
    """
    clock = Budget().clock()
    warm_up()
    return max(0.0, clock.seconds - LOADING)
