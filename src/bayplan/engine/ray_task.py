"""What Ray runs in a worker. It travels by value and needs nothing of bayplan, so that a worker without it can say so."""

from typing import Any


def attempt_on_ray(expected: tuple[str, str], packed: bytes, keys: list[str], *parts: Any) -> tuple[str, bytes]:
    """Why this worker refuses, or empty; then how the job ended. `parts`: of the shared inputs, in the order of their keys."""
    import socket
    import sys

    where = f"the worker on '{socket.gethostname()}' ({sys.executable})"
    wanted = f"expected bayplan {expected[0]} and Python {expected[1]}, as here: install them there"
    try:
        from bayplan.version import __version__
    except ImportError:
        return f"{where} has no bayplan; {wanted}", b""
    found = __version__, f"{sys.version_info.major}.{sys.version_info.minor}"
    if found != tuple(expected):
        return f"{where} has bayplan {found[0]} and Python {found[1]}; {wanted}", b""
    from bayplan.engine.worker import attempt

    return "", attempt(packed, dict(zip(keys, parts, strict=True)).__getitem__)
