"""Numba over arrays; imports nothing of ours.

Machine code is kept on disk under a name made from the text of all kernels. Numba itself looks only at the file of the
function that is called: after a change in one file it would go on using what other files had compiled from the old one.
"""

import hashlib
import os
from pathlib import Path

from numba import config

_HERE = Path(__file__).parent

KERNELS = ("admit", "collocate", "kube_scheduler", "pack", "schedule", "search")  # each has a `warm_up()`


def _edition() -> str:
    """A name for this edition of the kernels: a hash of their text."""
    digest = hashlib.sha256()
    for path in sorted(_HERE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Beside the kernels if one may write there, else in the user's cache."""
    beside = _HERE / "__pycache__"
    if os.access(beside if beside.exists() else _HERE, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bayplan"


if not os.environ.get("NUMBA_CACHE_DIR"):
    vars(config)["CACHE_DIR"] = str(_cache_folder() / f"numba-{_edition()}")
