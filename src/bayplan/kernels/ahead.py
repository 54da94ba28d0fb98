"""Compile kernels ahead of their first call: those that are needed and not on disk, in as many processes as there are cores."""

import importlib
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from queue import SimpleQueue

from bayplan.kernels import KERNELS
from bayplan.kernels.jit import ENTRIES, Signature, noting_calls
from bayplan.kernels.machine_code import cache_folder

OnProgress = Callable[[int, int], None]  # called with how many of how many kernels are compiled

MOST_PROCESSES = 4  # the kernels of one method are few, and one of them takes a third of the time
WORTH_A_PROCESS = 3  # kernels; a process takes a second to start
SERVE = "from bayplan.kernels.ahead import serve; serve()"


@cache
def signatures(folder: str) -> dict[str, Signature]:
    """How Python calls the kernels of a folder that are not compiled yet, by name; from the folder's examples."""
    module = importlib.import_module(f"bayplan.kernels.{folder}")
    with noting_calls() as calls:
        module.warm_up()
    return calls


def all_kernels() -> tuple[str, ...]:
    """The names of all kernels that Python calls and that this process has not loaded yet."""
    return tuple(name for folder in KERNELS for name in signatures(folder))


def missing(names: Iterable[str]) -> list[str]:
    """Those of the kernels that have to be compiled."""
    return [name for name in names if not _is_ready(name)]


def _is_ready(name: str) -> bool:
    signature = signatures(name.partition(".")[0]).get(name)
    entry = ENTRIES[name]
    return bool(entry.overloads) or signature is None or entry.on_disk(signature)


def compile_ahead(names: Iterable[str], on_progress: OnProgress) -> int:
    """Compile those of the kernels that have to be; how many these were."""
    todo = missing(names)
    processes = min(_cores(), MOST_PROCESSES, len(todo) // WORTH_A_PROCESS)
    if processes > 1 and _is_writable():
        _compile_beside(todo, processes, on_progress)
    for name in missing(todo):
        on_progress(len(todo) - len(missing(todo)), len(todo))
        _compile(name)
    return len(todo)


def _compile(name: str) -> None:
    ENTRIES[name].compile(signatures(name.partition(".")[0])[name])


def _compile_beside(names: Sequence[str], processes: int, on_progress: OnProgress) -> None:
    """Compile in other processes, which leave the machine code on disk. One that dies leaves its kernels to us.

    They take names from both ends of the list: kernels of one folder share parts, which each process has to translate itself.
    """
    todo, done = deque(sorted(names)), SimpleQueue[str | None]()
    ends = (todo.popleft, todo.pop)
    workers = [threading.Thread(target=_feed_worker, args=(ends[n % 2], done), daemon=True) for n in range(processes)]
    on_progress(0, len(names))
    for worker in workers:
        worker.start()
    compiled, working = 0, processes
    while working:
        if done.get() is None:
            working -= 1
        else:
            compiled += 1
            on_progress(compiled, len(names))


def _feed_worker(take_next: Callable[[], str], done: "SimpleQueue[str | None]") -> None:
    """Give names to one process until there are none left."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        with subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            while True:
                name = take_next()
                process.stdin.write(name + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return
                done.put(name)
    except (IndexError, OSError):
        return
    finally:
        done.put(None)


def serve() -> None:
    """Compile the kernels whose names come in, and answer each; run by the other processes."""
    for line in sys.stdin:
        name = line.strip()
        if missing([name]):
            _compile(name)
        print(name, flush=True)


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_writable() -> bool:
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_folder()):
            return True
    except OSError:
        return False
