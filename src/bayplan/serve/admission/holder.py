"""The name under which a server holds leases; it tells servers on this machine whether the process is still there.

A server that is started again after a crash need not wait until the lease of its predecessor has run out: the name says on which
machine, since which start of it, and in which space of process numbers the predecessor ran, and if all of that is here, whether
it still runs. A process that is only stopped is still there. If anything is not certain, the lease decides.
"""

import os
import secrets
import socket
from functools import cache
from pathlib import Path


def holder_name() -> str:
    """A name that no other server has."""
    return f"{_place()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_gone(holder: str) -> bool:
    """Is it certain that the process of this name has ended?"""
    place, _, rest = holder.rpartition("/")
    place, _, number = place.rpartition("/")
    if not rest or not _place() or place != _place() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _place() -> str:
    """This machine, since its last start, and the space of process numbers; empty where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        numbers = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path: "pid:[4026531836]"
    except OSError:
        return f"{socket.gethostname()}/{secrets.token_hex(4)}"
    return f"{socket.gethostname()}/{boot}/{numbers}"
