"""Where the machine code of a kernel comes from: kept in a folder, shipped with the package, or compiled now.

What is shipped was compiled for a processor that nearly every machine has (x86-64-v3). It is used if the text of the kernels,
the minor version of Python and the exact versions of Numba and llvmlite are those that it was compiled with, and if the
processor has what it needs. Else a kernel is compiled at its first call, for this processor, and kept in a folder.

The name of a file says all that the machine code depends on. Numba's own cache looks only at the file of the function that is
called: after a change in one file it would go on using what other files had compiled from the old one.
"""

import functools
import hashlib
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding
from numba.core.caching import NullCache, dumps
from numba.core.compiler import CompileResult

HERE = Path(__file__).parent
SHIPPED = HERE / "shipped"
SHIPPED_FOR = "x86-64-v3"
NEEDS = ("avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "ssse3", "xsave")
COMPILER = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, {sys.implementation.cache_tag}"
CHECKSUM = 32  # bytes at the start of a file
ENDING = ".kernel"


@functools.cache
def edition(folder: str) -> str:
    """A hash of the text of all kernels of a folder, and of those that all folders share."""
    digest = hashlib.sha256(COMPILER.encode())
    for path in sorted([*HERE.glob("*.py"), *(HERE / folder).rglob("*.py")]):
        digest.update(path.relative_to(HERE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def cache_folder() -> Path:
    """BAYPLAN_CACHE_DIR; or beside the kernels if one may write there; or in the user's cache."""
    stated = os.environ.get("BAYPLAN_CACHE_DIR")
    if stated:
        return Path(stated)
    beside = HERE / "__pycache__"
    if os.access(beside if beside.exists() else HERE, os.W_OK):
        return beside / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan" / "kernels"


@functools.cache
def runs_shipped() -> bool:
    """Does this processor run what is shipped?"""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        features = binding.get_host_cpu_features()
    except RuntimeError:
        return False
    return all(features.get(need) for need in NEEDS)


class KernelCache(NullCache):
    """The machine code of one kernel, on disk. Whatever is wrong with a file or folder, the kernel can be compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module = function.__module__.removeprefix("bayplan.kernels.")
        self._name = function.__name__

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code, ready to be called; None if it must be compiled."""
        target_context.refresh()
        for path in self._paths(sig, target_context.codegen()):
            data = _read(path)
            if data is not None:
                with suppress(Exception):  # of whatever kind: it can be compiled
                    return CompileResult._rebuild(target_context, *pickle.loads(data))
        return None

    def has(self, sig: Any, codegen: Any) -> bool:
        """Is there a file with the machine code?"""
        return any(path.exists() for path in self._paths(sig, codegen))

    def _paths(self, sig: Any, codegen: Any) -> Iterator[Path]:
        """Where the machine code may be."""
        triple, *processor = codegen.magic_tuple()
        yield cache_folder() / self.file_name(sig, triple, *processor)
        if runs_shipped():
            yield SHIPPED / self.file_name(sig, triple, SHIPPED_FOR, "")

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        name = self.file_name(sig, *data.codegen.magic_tuple())
        with suppress(OSError):  # a full disk, a folder that may not be written to: the next process compiles again
            _write(cache_folder() / name, dumps(data._reduce()))

    def file_name(self, sig: Any, triple: str, cpu: str, features: str) -> str:
        """All that the machine code depends on."""
        depends = (edition(self._module.partition(".")[0]), str(sig), triple, cpu, features)
        return f"{self._module}.{self._name}.{hashlib.sha256(repr(depends).encode()).hexdigest()[:20]}{ENDING}"


def _read(path: Path) -> bytes | None:
    """What a file holds; None if there is none or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, data = content[:CHECKSUM], content[CHECKSUM:]
    return data if hashlib.sha256(data).digest() == checksum else None


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: other processes read and write the same files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
