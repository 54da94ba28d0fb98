"""Processes in which a cell is measured: they find the modules that this one has, and end with it."""

import ctypes
import os
import signal
import sys

_LIBC = ctypes.CDLL(None)  # loaded here: not between fork and exec
_PR_SET_PDEATHSIG = 1


def environment(**more: str) -> dict[str, str]:
    """The environment of this process, with all folders of its modules: a worker of an engine may run in another folder."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def end_with_parent() -> None:
    """For `preexec_fn`: the kernel kills the process when its parent ends. A worker that is given up cannot do that itself."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
