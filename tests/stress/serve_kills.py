"""Kill a service (-9) at random moments under load, again and again, and look whether anything that it acknowledged is lost.

    python -m tests.stress.serve_kills [--database sqlite|postgresql] [--kills N]

Eight clients offer, release and set the time, each change with a key of its own, and note every answer. After each kill the
service is started on the same store, what got no answer is sent again under its key, and then: every acknowledged answer is in
the log as it was given; no offer is in the log twice; no capacity is exceeded, as the referee of admissions says; and an object
in this process that was never interrupted comes to the same outcome for every change of the log. One row per kill is appended to
`serve_kills.csv`; a run that is stopped goes on with the next number. Four admissions, one per method, take turns.
"""

import argparse
import http.client
import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.results import append, commit, machine, picked, rows
from tests.builders import postgres
from tests.builders.offered import METHODS, creation, offers, stream
from tests.builders.served import Address, ServerProcess, reply_of

from bayplan.check import check_admission
from bayplan.formats.streams.entry import request_of
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, Zones, ints
from bayplan.serve.admission import changes
from bayplan.serve.admission.shapes import AdmissionGiven
from bayplan.serve.admission.state import made_of

RESULTS = Path(__file__).parent / "serve_kills.csv"
COLUMNS = (
    *(
        "commit",
        "machine",
        "database",
        "kill",
        "method",
        "after_ms",
        "acknowledged",
        "unanswered",
        "log",
        "lost",
        "changed",
        "twice",
    ),
    *("violations", "differs", "back_seconds"),
)
CLIENTS, DRAWN, EPOCH, SLOTS = 8, 2000, 40, 10
LONGEST = 1.2  # seconds of load before a kill
BAD = ("lost", "changed", "twice", "violations", "differs")


@dataclass(slots=True)
class Told:
    """What the clients have sent, and what they were told."""

    answered: dict[str, dict[str, Any]] = field(default_factory=dict)  # key -> outcome
    unanswered: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)  # key -> kind, body
    lock: threading.Lock = field(default_factory=threading.Lock)


class Load:
    """Changes for one admission, one after the other, for as many clients as ask."""

    def __init__(self, method: str, seed: int) -> None:
        self.method, self.name = method, method
        self.requests = stream(count=DRAWN, seed=seed, zones=4, members=3, slots=30)
        self._drawn, self._random, self._number = offers(self.requests), random.Random(seed), 0
        self._lock = threading.Lock()
        self._accepted: list[str] = []

    def next(self) -> tuple[str, str, dict[str, Any]]:
        """The key, the kind and the body of the next change."""
        with self._lock:
            self._number += 1
            number, time_now = self._number, float(self._number // EPOCH * SLOTS)
            key = f"{self.method}-{number}"
            if number % EPOCH == 0:
                return key, "advance", {"time": time_now - 2 * SLOTS}
            if number % 9 == 0 and self._accepted:
                return key, "release", {"name": self._accepted.pop(self._random.randrange(len(self._accepted)))}
            given = self._drawn[number % DRAWN]
            times = {"start": given["start"] + time_now, "end": given["end"] + time_now}
            return key, "offer", {**{name: value for name, value in given.items() if name != "arrival"}, **times, "name": key}

    def heard(self, outcome: dict[str, Any]) -> None:
        """An offer was accepted: it may be released later."""
        if outcome.get("accepted"):
            with self._lock:
                self._accepted.append(outcome["name"])


PATHS = {"offer": "offers", "release": "releases", "advance": "advance"}


def client(address: Address, load: Load, told: Told, stop: threading.Event) -> None:
    """Send changes until the service is gone or it is time to stop."""
    connection = address.connect()
    while not stop.is_set():
        key, kind, body = load.next()
        with told.lock:
            told.unanswered[key] = (kind, body)
        try:
            sent(connection, load, told, key, kind, body)
        except (OSError, http.client.HTTPException, ValueError):
            break
    connection.close()


def sent(connection: http.client.HTTPConnection, load: Load, told: Told, key: str, kind: str, body: dict[str, Any]) -> int:
    """Send one change and note the answer; the status."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    connection.request("POST", f"/v1/admissions/{load.name}/{PATHS[kind]}", json.dumps(body), headers)
    reply = reply_of(connection)
    if reply.status in (200, 404, 409, 422):  # 404, 409: a release or an offer that came too late; nothing was changed
        with told.lock:
            del told.unanswered[key]
            if reply.status == 200:
                told.answered[key] = reply.content
        load.heard(reply.content)
    return reply.status


def loaded(server: ServerProcess, load: Load, told: Told, seconds: float, in_order: bool = False) -> None:
    """Load the service for a while, then kill it; in order: tell it to end, which must go well."""
    stop = threading.Event()
    threads = [threading.Thread(target=client, args=(server.address, load, told, stop)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)  # the moment of the kill is drawn: it is the point of this test
    if in_order:
        assert server.end() == 0
    else:
        server.kill()
    stop.set()
    for thread in threads:
        thread.join()


class Twin:
    """An object in this process that was never interrupted, fed with the log."""

    def __init__(self, load: Load) -> None:
        description = AdmissionGiven(**creation(load.requests, load.name, load.method)).description()
        self.admission, self.base_units = made_of(description)
        self.seq = 0
        self.differs = 0
        self.accepted: dict[str, tuple[ClusterRequest, list[int]]] = {}

    def follow(self, entries: list[dict[str, Any]]) -> None:
        """Apply entries of the log, and count outcomes that are not those of the log."""
        for entry in entries:
            outcome = changes.apply(self.admission, entry["kind"], entry["given"], self.base_units)
            self.seq += 1
            again = json.loads(changes.encoded({"seq": self.seq, **outcome}))
            self.differs += again != entry["outcome"]
            self._note(entry)

    def _note(self, entry: dict[str, Any]) -> None:
        """Remember what the log says was accepted, for the referee."""
        zones, outcome = self.admission.zones, entry["outcome"]
        if entry["kind"] == "offer" and outcome["accepted"]:
            request = request_of(entry["given"], zones, base_units=self.base_units)
            self.accepted[request.name] = request, [zones.name.index(outcome["zones"][member]) for member in request.members]
        elif entry["kind"] == "release" and outcome["released"] in self.accepted:
            request, places = self.accepted.pop(outcome["released"])
            if outcome["now"] > request.start:  # all times of the load are whole slots
                self.accepted[request.name] = _until(request, outcome["now"]), places

    def violations(self) -> int:
        """What the referee finds in all that was ever accepted."""
        return len(_violations(self.admission.zones, list(self.accepted.values())))


def _until(request: ClusterRequest, end: float) -> ClusterRequest:
    from dataclasses import replace

    return replace(request, end=min(end, request.end))


def _violations(zones: Zones, accepted: list[tuple[ClusterRequest, list[int]]]) -> Any:
    ordered = sorted(accepted, key=lambda pair: pair[0].arrival)
    requests = ClusterRequests(zones=zones, requests=tuple(request for request, _ in ordered))
    return check_admission(requests, Acceptance(zone_of=tuple(ints(places) for _, places in ordered)))


def log_after(address: Address, name: str, seq: int) -> list[dict[str, Any]]:
    """The entries after a number, in their order, over HTTP."""
    entries: list[dict[str, Any]] = []
    before = ""
    while True:
        page = address.get(f"/v1/admissions/{name}/history?limit=1000&slots=1{before}").content
        entries += [entry for entry in page["entries"] if entry["seq"] > seq]
        if len(page["entries"]) < 1000 or page["entries"][-1]["seq"] <= seq + 1:
            return entries[::-1]
        before = f"&before={page['before']}"


def judged(server: ServerProcess, load: Load, told: Told, twin: Twin, known: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Send again what got no answer; then what is lost, changed, twice, exceeded or different."""
    unanswered = len(told.unanswered)
    connection = server.address.connect()
    for key, (kind, body) in list(told.unanswered.items()):
        assert sent(connection, load, told, key, kind, body) != 503
    connection.close()
    entries = log_after(server.address, load.name, twin.seq)
    twin.follow(entries)
    known.update({_subject(entry): entry["outcome"] for entry in entries})
    mine = {_answer_subject(outcome): outcome for key, outcome in told.answered.items() if key.startswith(load.method)}
    names = Counter(entry["outcome"]["name"] for entry in entries if entry["kind"] == "offer")
    return {
        "acknowledged": len(mine),
        "unanswered": unanswered,
        "log": twin.seq,
        "lost": sum(subject not in known for subject in mine),
        "changed": sum(known.get(subject, outcome) != outcome for subject, outcome in mine.items()),
        "twice": sum(count > 1 for count in names.values()) + (twin.seq - len(known)),
        "violations": twin.violations(),
        "differs": twin.differs,
    }


def _subject(entry: dict[str, Any]) -> int:
    return int(entry["outcome"]["seq"])


def _answer_subject(outcome: dict[str, Any]) -> int:
    return int(outcome["seq"])


@contextmanager
def store_of(database: str) -> Iterator[str]:
    """Where the service stores: a new file, or a new schema of a durable PostgreSQL server of our own."""
    with ExitStack() as stack:
        if database == "postgresql":
            yield stack.enter_context(postgres.server(durable=True)).address()
        else:
            yield str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "serve.db")


def killed(database: str, numbers: range, in_order: bool = False) -> Iterator[dict[str, Any]]:
    """One row per kill."""
    loads = {method: Load(method, seed) for seed, method in enumerate(METHODS)}
    twins = {method: Twin(load) for method, load in loads.items()}
    known: dict[str, dict[str, Any]] = {method: {} for method in METHODS}
    told = {method: Told() for method in METHODS}
    with store_of(database) as store, tempfile.TemporaryDirectory() as folder:
        server = ServerProcess("--store", store, "--rate", "1000000", folder=Path(folder))
        try:
            for method, load in loads.items():
                assert server.address.post("/v1/admissions", creation(load.requests, load.name, method)).status == 201
            for number in numbers:
                method, drawn = METHODS[number % len(METHODS)], random.Random(number).uniform(0.0, LONGEST)
                loaded(server, loads[method], told[method], drawn, in_order)
                server = ServerProcess("--store", store, "--rate", "1000000", folder=Path(folder))
                began = time.monotonic()
                found = judged(server, loads[method], told[method], twins[method], known[method])
                back = {"after_ms": f"{1000 * drawn:.0f}", "back_seconds": f"{time.monotonic() - began:.2f}"}
                about = {"commit": commit(), "machine": machine(), "database": database, "kill": number, "method": method}
                yield about | found | back
        finally:
            server.kill()


def main() -> None:
    """Kill, judge, write down; exit code 1 if anything was lost."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options.add_argument("--kills", type=int, default=200)
    given = options.parse_args()
    done = len(picked(rows(RESULTS), database=given.database))
    bad = 0
    for row in killed(given.database, range(done, given.kills)):
        append(RESULTS, COLUMNS, [{name: str(row[name]) for name in COLUMNS}])
        bad += any(row[name] for name in BAD)
        print(", ".join(f"{name} {row[name]}" for name in ("kill", "method", "acknowledged", "log", *BAD)), flush=True)
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
