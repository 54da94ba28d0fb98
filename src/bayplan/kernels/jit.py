"""How kernels that allocate nothing are compiled.

Reference counting is off: with it every access to an array of a tuple costs two atomic operations.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """The function, compiled at its first call and kept on disk; other threads run beside it."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    compiled: Function = njit(**options)(function)
    return compiled
