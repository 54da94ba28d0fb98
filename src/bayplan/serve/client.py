"""`bayplan.Client`: the library's verbs on a server. It needs nothing but Python's own HTTP.

import bayplan as bp

client = bp.Client("http://127.0.0.1:8080")
shop = client.send("shop.yaml")
job = client.plan(shop, goal="steady", seconds=5)
for event in job.events():
    print(event.kind, event.data)
print(job.result()["moved"])
job.report("plan.html")
"""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from bayplan.errors import BayplanError, Fault, InputError, ModelError, UsageError, WorldError
from bayplan.serve.connection import Reply, ServiceConnection, ServiceError

if TYPE_CHECKING:  # for their signatures alone: a client need not load the library
    from bayplan.api.capacity import capacity
    from bayplan.api.check import check
    from bayplan.api.collocate import collocate
    from bayplan.api.inspect import explain, show
    from bayplan.api.migrate import migrate
    from bayplan.api.pack import pack
    from bayplan.api.packing.machines_needed import machines_needed
    from bayplan.api.place import place
    from bayplan.api.planning.plan import plan
    from bayplan.api.rebalance import rebalance
    from bayplan.api.requests.admit import admit
    from bayplan.api.requests.schedule import schedule
    from bayplan.api.requests.sweep import sweep_machines
    from bayplan.api.what_if.state import what_if_state
    from bayplan.model import Snapshot

__all__ = ["Client", "JobEvent", "RemoteJob", "RemoteSnapshot", "ServiceError"]

P = ParamSpec("P")
ENDED = ("done", "failed", "cancelled", "interrupted")
FAILURES: Mapping[str, type[BayplanError]] = {"UsageError": UsageError, "ModelError": ModelError, "WorldError": WorldError}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSnapshot:
    """A snapshot that a server keeps."""

    id: str
    facts: Mapping[str, Any]  # kind, name, machines, containers, ...
    local: "Snapshot | None" = None  # what was sent, if it was a value: it knows the names of containers


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """Something that happened to a job: its state, its progress, a better incumbent, its end."""

    number: int
    kind: str
    data: Mapping[str, Any]


def _verb(
    name: str, like: Callable[[], Callable[Concatenate[Any, P], Any]]
) -> "Callable[Concatenate[Client, Any, P], RemoteJob]":
    """A method that starts a job; its arguments are those of the library's function, which is only looked at for its types."""

    def start(client: "Client", about: Any, /, *positional: P.args, **options: P.kwargs) -> "RemoteJob":
        return client.submit(name, about, *positional, **options)

    start.__name__ = name.replace("-", "_")
    start.__doc__ = f"Start a job of `{name}`; the arguments are those of the library's function, but for `progress`."
    return start


class ServiceClient:
    """A server of `bayplan serve`, with the verbs of the library: each starts a job.

    `token` is needed where the server knows tokens; `authority` is a file with the certificate of one's own authority.

    >>> import bayplan as bp
    >>> client = bp.Client("http://127.0.0.1:8080")
    >>> client.address
    'http://127.0.0.1:8080'
    """

    def __init__(
        self, address: str, *, token: str = "", seconds: float = 60.0, authority: str | os.PathLike[str] | None = None
    ) -> None:
        self._connection = ServiceConnection(address, token=token, seconds=seconds, authority=authority)

    @property
    def address(self) -> str:
        """Where the server listens."""
        return self._connection.address

    # ---- snapshots ------------------------------------------------------------------------------------------------------------

    def send(self, value: Any, *, form: str | None = None) -> RemoteSnapshot:
        """Send a snapshot, timed requests or a stream: a value of the library, a path, or bytes."""
        if isinstance(value, RemoteSnapshot):
            return value
        body, known = _content(value)
        form = form or known
        query = f"?format={form}" if form else ""
        facts = self._connection.ask("POST", f"/v1/snapshots{query}", body).document()
        return RemoteSnapshot(id=facts["id"], facts=facts, local=value if hasattr(value, "cluster") else None)

    def snapshots(self) -> list[RemoteSnapshot]:
        """The newest snapshots that the server keeps."""
        listed = self._connection.ask("GET", "/v1/snapshots").document()["snapshots"]
        return [RemoteSnapshot(id=facts["id"], facts=facts) for facts in listed]

    def delete(self, snapshot: RemoteSnapshot) -> None:
        """Delete a snapshot."""
        self._connection.ask("DELETE", f"/v1/snapshots/{snapshot.id}", key=uuid.uuid4().hex)

    def loop_snapshot(self) -> RemoteSnapshot:
        """The cluster as the loop of the server saw it last, kept as a snapshot: what a plan for that loop is made on."""
        facts = self._connection.ask("POST", "/v1/loop/snapshot").document()
        return RemoteSnapshot(id=facts["id"], facts=facts)

    # ---- jobs -----------------------------------------------------------------------------------------------------------------

    def submit(self, verb: str, about: Any, *positional: Any, **options: Any) -> "RemoteJob":
        """Start a job. Sent twice because an answer was lost, it still starts once."""
        snapshot = self.send(about)
        named = {**dict(zip(_POSITIONAL.get(verb, ()), positional, strict=False)), **options}
        stated = {name: self._stated(value, snapshot) for name, value in named.items() if value is not None}
        body = {"verb": verb, "snapshot": snapshot.id, "options": stated}
        reply = self._connection.ask("POST", "/v1/jobs", body, key=uuid.uuid4().hex)
        return RemoteJob(self._connection, reply.document())

    def jobs(self, *, state: str | None = None, limit: int = 100) -> "list[RemoteJob]":
        """The newest jobs, of one state if it is stated."""
        query = f"?limit={limit}" + (f"&state={state}" if state else "")
        listed = self._connection.ask("GET", f"/v1/jobs{query}").document()["jobs"]
        return [RemoteJob(self._connection, document) for document in listed]

    def job(self, name: str) -> "RemoteJob":
        """The job of that id."""
        return RemoteJob(self._connection, self._connection.ask("GET", f"/v1/jobs/{name}").document())

    def verbs(self) -> dict[str, Any]:
        """Every verb with the JSON Schema of its options."""
        listed = self._connection.ask("GET", "/v1/verbs").document()["verbs"]
        return {entry["verb"]: entry for entry in listed}

    plan = _verb("plan", lambda: plan)
    place = _verb("place", lambda: place)
    rebalance = _verb("rebalance", lambda: rebalance)
    collocate = _verb("collocate", lambda: collocate)
    migrate = _verb("migrate", lambda: migrate)
    pack = _verb("pack", lambda: pack)
    machines_needed = _verb("machines-needed", lambda: machines_needed)
    schedule = _verb("schedule", lambda: schedule)
    sweep = _verb("sweep", lambda: sweep_machines)
    admit = _verb("admit", lambda: admit)
    capacity = _verb("capacity", lambda: capacity)
    what_if = _verb("what-if", lambda: what_if_state)
    check = _verb("check", lambda: check)
    show = _verb("show", lambda: show)
    explain = _verb("explain", lambda: explain)

    def _stated(self, value: Any, about: RemoteSnapshot) -> Any:
        """A value of the library as a request states it."""
        if isinstance(value, RemoteSnapshot):
            return value.id
        if hasattr(value, "machine_of"):
            return _machines(value, about)
        if hasattr(value, "cluster") or hasattr(value, "demand"):  # a snapshot, or timed requests
            return self.send(value).id
        from bayplan.report.json import plain

        return plain(value)


Client = ServiceClient


class RemoteJob:
    """A job of a server: follow it, cancel it, fetch what it has made."""

    def __init__(self, connection: ServiceConnection, document: Mapping[str, Any]) -> None:
        self._connection, self.document = connection, document

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.document["id"])

    @property
    def state(self) -> str:
        """Where it stood when it was last asked about: waiting, running, done, failed, cancelled, interrupted."""
        return str(self.document["state"])

    @property
    def ended(self) -> bool:
        """Was it over then?"""
        return self.state in ENDED

    def refresh(self) -> "RemoteJob":
        """Ask how far it is."""
        self.document = self._connection.ask("GET", f"/v1/jobs/{self.id}").document()
        return self

    def events(self, after: int = 0) -> Iterator[JobEvent]:
        """What happens to it, as it happens, until it has ended. A connection that breaks is made again: nothing is missed."""
        for number, kind, data in self._connection.stream(f"/v1/jobs/{self.id}/events", after, self._is_over):
            yield JobEvent(number=number, kind=kind, data=data)
            if kind == "ended":
                return

    def _is_over(self, after: int) -> bool:
        """Has it ended, with no event after this one?"""
        return self.refresh().ended and int(self.document["events"]) <= after

    def wait(self) -> "RemoteJob":
        """Until it has ended."""
        if not self.refresh().ended:
            for _ in self.events(int(self.document["events"])):
                pass
        return self.refresh()

    def cancel(self) -> "RemoteJob":
        """Let it end with its best so far."""
        self.document = self._connection.ask("POST", f"/v1/jobs/{self.id}/cancel").document()
        return self

    def result(self) -> dict[str, Any]:
        """The answer: the object that `--json` prints; of a job that was cut short, its best so far. It is waited for.

        A job that failed raises what the library would have raised.
        """
        if self.wait().state == "failed":
            raise _failure(self.document["failure"])
        return self._file("result").document()

    def incumbent(self) -> dict[str, Any]:
        """The best so far while it runs: its score, and where everything would run."""
        return self._file("incumbent").document()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the answer saves: a plan, a placement, accepted or served requests."""
        _write(path, self._ended_file("plan"))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the page that `--report` writes."""
        _write(path, self._ended_file("report"))

    def hand_to_loop(self, by: str = "") -> str:
        """Let the loop of the server carry out the plan that this job has made; what will be done, in a sentence."""
        self.wait()
        body = {"job": self.id, "by": by}
        return str(self._connection.ask("POST", "/v1/loop/plans", body, key=uuid.uuid4().hex).document()["done"])

    def delete(self) -> None:
        """Forget it, and what it has made."""
        self._connection.ask("DELETE", f"/v1/jobs/{self.id}", key=uuid.uuid4().hex)

    def _ended_file(self, kind: str) -> bytes:
        self.wait()
        return self._file(kind).body

    def _file(self, kind: str) -> Reply:
        return self._connection.ask("GET", f"/v1/jobs/{self.id}/{kind}")

    def __repr__(self) -> str:
        return f"RemoteJob({self.id}, {self.document['verb']}, {self.state})"


_POSITIONAL: Mapping[str, Sequence[str]] = {  # arguments that the library takes by position, after the first
    "migrate": ("target",),
    "schedule": ("machines",),
    "sweep": ("machines",),
    "explain": ("name",),
}


def _content(value: Any) -> tuple[bytes, str | None]:
    """The bytes of a value, and their format if it is known."""
    if isinstance(value, bytes):
        return value, None
    if isinstance(value, str | os.PathLike):
        suffix = Path(os.fspath(value).removesuffix(".gz")).suffix.lower().lstrip(".")
        form = {"yml": "yaml", "ndjson": "jsonl"}.get(suffix, suffix)
        try:
            return Path(value).read_bytes(), form if form in ("json", "yaml", "csv", "jsonl") else None
        except OSError as error:
            raise WorldError(f"cannot read '{os.fspath(value)}': {error.strerror or error}") from error
    import tempfile

    from bayplan.formats.files import write

    with tempfile.TemporaryDirectory() as folder:
        write(value, Path(folder) / "snapshot.json")
        return (Path(folder) / "snapshot.json").read_bytes(), "json"


def _machines(placement: Any, about: RemoteSnapshot) -> dict[str, str | None]:
    """A placement by names, which only the snapshot knows."""
    if about.local is None:
        raise UsageError("a placement of a snapshot that was not sent as a value; expected machines by container")
    containers, machines = about.local.cluster.containers.name, about.local.cluster.machines.name
    return {name: None if m < 0 else machines[m] for name, m in zip(containers, placement.machine_of.tolist(), strict=True)}


def _failure(problem: Mapping[str, Any]) -> BayplanError:
    """What the library would have raised."""
    faults = [Fault(**fault) for fault in problem.get("faults", ())]
    if faults:
        return InputError("job", faults)
    return FAILURES.get(str(problem.get("kind")), WorldError)(str(problem.get("detail")))


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise WorldError(f"cannot write '{os.fspath(path)}': {error.strerror or error}") from error
