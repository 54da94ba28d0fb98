"""A machine's first use of kernels: they are compiled before a user's seconds begin."""

from collections.abc import Callable
from dataclasses import replace

from bayplan.api.control import Control
from bayplan.model import Budget

LOADING = 1.0  # seconds to load compiled kernels, at most


def compiled(warm_up: Callable[[], None]) -> float:
    """Seconds, beyond those of loading them, that it took to compile kernels.

    They do not count against a budget: else the first answer on a machine would be poor because the compiler is slow.
    """
    clock = Budget().clock()
    warm_up()
    return max(0.0, clock.seconds - LOADING)


def after_compiling(control: Control, warm_up: Callable[[], None]) -> Control:
    """The control of a call, whose seconds do not include those of compiling kernels."""
    return replace(control, clock=replace(control.clock, started=control.clock.started + compiled(warm_up)))
