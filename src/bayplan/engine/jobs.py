"""A job, what many jobs share, what may become of one, and what every engine is."""

import logging
import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, Self, TypeAlias, TypeVar
from uuid import uuid4

from bayplan.errors import ModelError, WorldError

T = TypeVar("T")
V = TypeVar("V")

ATTEMPTS = 3  # a job whose worker is lost is tried this many times in all
LOG = logging.getLogger("bayplan.engine")


class EngineLostError(WorldError):
    """What jobs ran on is gone, or loses one of them again and again. What came back before is still good."""


class Shared(Generic[V]):
    """An input of many jobs that goes to each worker once, not once per job. Jobs may read it and must not change it.

    It stands among the arguments or options of a job itself, not inside of one; the job's call gets the value.
    """

    def __init__(self, value: V) -> None:
        self.value = value
        self.key = uuid4().hex
        self._file: Path | None = None

    def __reduce__(self) -> NoReturn:
        raise ModelError("a shared input stands inside of another argument; expected it as an argument of the job itself")

    def file(self) -> Path:
        """A file with the pickled value, written when it is first wanted and removed with this object."""
        if self._file is None:
            self._file = _written(self.value)
            weakref.finalize(self, _remove, self._file)
        return self._file


class SharedKey(NamedTuple):
    """Stands for a shared input in a job that travels."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job(Generic[T]):
    """A call that another process can make: a function of a module, and arguments that can be pickled or are `Shared`."""

    name: str  # for messages: "part 3 of 4"
    call: Callable[..., T]
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # by keyword

    def __call__(self) -> T:
        """What the call returns, in this process."""
        return self.with_inputs(lambda each: each.value if isinstance(each, Shared) else each)

    def with_inputs(self, value_of: Callable[[Any], Any]) -> T:
        """What the call returns if `value_of` gives the value of each argument."""
        options = {name: value_of(each) for name, each in self.options.items()}
        return self.call(*(value_of(each) for each in self.arguments), **options)

    @property
    def shared(self) -> list[Shared[Any]]:
        """The shared inputs, each once."""
        inputs = [each for each in (*self.arguments, *self.options.values()) if isinstance(each, Shared)]
        return list({each.key: each for each in inputs}.values())

    def packed(self) -> bytes:
        """The job as bytes, with the keys of its shared inputs instead of their values."""

        def keyed(each: Any) -> Any:
            return SharedKey(each.key) if isinstance(each, Shared) else each

        options = {name: keyed(each) for name, each in self.options.items()}
        travelling = Job(name=self.name, call=self.call, arguments=tuple(map(keyed, self.arguments)), options=options)
        return pickle.dumps(travelling, protocol=5)


class JobLoss(NamedTuple):
    """A worker that was lost with the job that it had."""

    job: str  # its name
    cause: str  # "its process died (signal SIGSEGV)"
    attempt: int  # 1 for the first
    again: bool  # is the job tried once more?

    def __str__(self) -> str:
        then = f"it is repeated elsewhere (attempt {self.attempt + 1} of {ATTEMPTS})" if self.again else "it is given up"
        return f"job '{self.job}' was lost: {self.cause}; {then}"


LossReport: TypeAlias = Callable[[JobLoss], None]


def log_loss(loss: JobLoss) -> None:
    """Say on the log of `bayplan.engine` which job was lost; without a handler that is stderr."""
    LOG.warning("%s", loss)


class LossNotes:
    """Losses that go to the log, and are kept as notes for the answer."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def report(self, loss: JobLoss) -> None:
        """Take note of a loss: the `lost` of `Engine.stream`."""
        log_loss(loss)
        self.notes.append(f"engine: {loss}")


class Engine(Protocol):
    """A place where jobs run. As a context manager it keeps its workers, or its connection, from one call to the next."""

    name: str  # as a user writes it: "pool", "ray:10.0.0.1:6379"

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None: ...

    def slots(self, workers: int) -> int:
        """How many jobs run at a time if the caller wants this many workers; a Ray cluster has its own number."""
        ...

    def stream(
        self, jobs: Iterable[Job[T]], *, workers: int, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, T]]:
        """The number of a job and what it returned, as they come. A job is taken from `jobs` when a worker is free for it.

        It ends early after that many seconds, or if a stop is requested (`model.interrupt`): jobs that have not ended are given
        up, and all workers that are busy end at once. A job that raises ends it with its own error. A job whose worker dies is
        reported to `lost` and repeated, `ATTEMPTS` times in all; then it ends with EngineLostError.
        """
        ...

    def run(self, jobs: Sequence[Job[T]], *, workers: int, lost: LossReport = log_loss) -> list[T]:
        """What each job returns, in the order of the jobs. KeyboardInterrupt if a stop is requested before all have ended."""
        ...


def in_order(answers: Iterator[tuple[int, T]], number: int) -> list[T]:
    """The answers of this many jobs in the order of the jobs; KeyboardInterrupt if some of them are missing."""
    answer_of = dict(answers)
    if len(answer_of) < number:
        raise KeyboardInterrupt
    return [answer_of[n] for n in range(number)]


# A shared file: its head and each buffer, with their lengths at the beginning; buffers begin at multiples of 64 bytes.
ALIGNED = 64


def _written(value: object) -> Path:
    """A temporary file with a pickled value: first the objects, then the bytes of their arrays as they are in memory."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    lengths = pickle.dumps([len(part) for part in parts])
    handle, name = tempfile.mkstemp(prefix="bayplan-shared-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(len(lengths).to_bytes(8, "little") + lengths)
            for part in parts:
                file.write(b"\0" * (-file.tell() % ALIGNED))
                file.write(part)
    except OSError as error:
        _remove(Path(name))
        raise WorldError(f"cannot write what jobs share to '{name}': {error.strerror or error}; TMPDIR names another") from error
    return Path(name)


def parts_of(data: memoryview) -> list[memoryview]:
    """The head and the buffers of a shared file, without a copy."""
    first = 8 + int.from_bytes(data[:8], "little")
    parts, at = [], first
    for length in pickle.loads(data[8:first]):
        at += -at % ALIGNED
        parts.append(data[at : at + length])
        at += length
    return parts


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
