"""What happens in a worker: a job comes as bytes, its answer or its error goes back as bytes."""

import mmap
import pickle
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bayplan.engine.jobs import Job, SharedKey, parts_of
from bayplan.errors import WorldError
from bayplan.version import __version__

KEPT = 4  # shared inputs that a worker keeps
_loaded: "OrderedDict[str, Any]" = OrderedDict()  # by key

Parts: TypeAlias = Sequence[Any]  # the pickled objects, then the bytes of each of their arrays


class Ended(NamedTuple):
    """How a job ended: with a value, or with an error."""

    value: Any = None
    error: BaseException | None = None


def versions() -> tuple[str, str]:
    """Of bayplan and of Python without its last number: what has to be the same everywhere."""
    return __version__, f"{sys.version_info.major}.{sys.version_info.minor}"


def attempt(packed: bytes, parts_by_key: Callable[[str], Parts]) -> bytes:
    """How a packed job ended, as bytes. `parts_by_key` is asked for shared inputs that this process does not have."""
    try:
        job: Job[Any] = pickle.loads(packed)
    except (ImportError, AttributeError) as error:  # a module that only our caller has, or another version of it
        return pickle.dumps(Ended(error=WorldError(_foreign(error))), protocol=5)

    def value_of(each: Any) -> Any:
        return _shared(each.key, parts_by_key) if isinstance(each, SharedKey) else each

    try:
        ended = Ended(value=job.with_inputs(value_of))
    except Exception as error:
        ended = Ended(error=error)
    return _sendable(job.name, ended)


def _foreign(error: ImportError | AttributeError) -> str:
    """Why a job cannot be read here: it is a function of a module that this worker does not have."""
    where = f"the worker on '{socket.gethostname()}' ({sys.executable})"
    module = error.name if isinstance(error, ModuleNotFoundError) else ""
    lacks = f"has no module '{module.partition('.')[0]}'" if module else f"cannot read the job ({error})"
    return f"{where} {lacks}; expected the modules of this process there: put the folder that has them on its PYTHONPATH"


def parts_in_file(path: str) -> Parts:
    """The parts of a shared input in a file. Its pages are those of all processes until one writes to them."""
    with Path(path).open("rb") as file:
        return parts_of(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)))


def _shared(key: str, parts_by_key: Callable[[str], Parts]) -> Any:
    if key not in _loaded:
        head, *buffers = parts_by_key(key)
        _loaded[key] = pickle.loads(head, buffers=buffers)
    _loaded.move_to_end(key)
    while len(_loaded) > KEPT:
        _loaded.popitem(last=False)
    return _loaded[key]


def _sendable(name: str, ended: Ended) -> bytes:
    """As bytes; an answer or an error that cannot travel becomes an error that can."""
    try:
        data = pickle.dumps(ended, protocol=5)
        if ended.error is not None:
            pickle.loads(data)
    except Exception as error:  # whatever its own constructor raises
        cause = ended.error or error
        text = f"job '{name}' failed: {type(cause).__name__}: {cause}"
        return pickle.dumps(Ended(error=WorldError(text)), protocol=5)
    return data
