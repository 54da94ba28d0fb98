"""Measure durable admission over HTTP beside the bare object in this process, in one run: S = 9 zones, V = 5 members, 32 clients.

The service runs in a process of its own (`bayplan serve` on an SQLite file), the clients in this one, each on a connection that
it keeps, one offer after the other. Offers come in epochs of 500, each later than the one before; all of an epoch are answered
before the next begins, because offers must come in the order of their arrival. *overload* is ten times the clients.

Rows are appended to `benchmarks/serve.csv`: offers (with a verdict), refused (429), other answers (there must be none), seconds,
verdicts a second, median and 99th percentile of a verdict, processor seconds of the service (its start, too), its memory after a
tenth of the offers and at the end, and the number of changes in its log.

    python -m benchmarks.serve [--quick] [--store URL] [--method NAME]

--quick: a tenth of the offers; --store: PostgreSQL instead of SQLite.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from experiments.results import append, commit, machine
from tests.builders.offered import creation
from tests.builders.served import ServerProcess

from bayplan.api.requests.live_admission import LiveAdmission
from bayplan.formats.streams.entry import entry_of, request_of
from bayplan.generate import GENERATORS
from bayplan.model import ClusterRequests

RESULTS = Path(__file__).parent / "serve.csv"
COLUMNS = (
    *("commit", "machine", "name", "method", "clients", "offers", "refused", "other", "seconds", "per_second"),
    *("p50_ms", "p99_ms", "cpu_seconds", "early_mb", "end_mb", "log", "target"),
)
ZONES, MEMBERS, SLOTS, EPOCH, DRAWN = 9, 5, 100, 500, 10_000
CLIENTS = 32
METHODS = ("primal-dual", "learned")
TARGET = "1,000 a second, p99 below 50 ms"


def drawn() -> ClusterRequests:
    """Different requests that are offered again and again, later and later."""
    sizes = {"zones": ZONES, "members_least": MEMBERS, "members_most": MEMBERS, "slots": SLOTS}
    return GENERATORS["container-clusters"].make(**sizes, count=DRAWN, seed=1)


def offered(requests: ClusterRequests, count: int) -> Iterator[dict[str, Any]]:
    """The bodies of that many offers; all of one epoch arrive together."""
    names = [resource.name for resource in requests.zones.resources]
    drawn = [entry_of(request, names) for request in requests.requests]
    for number in range(count):
        given, later = drawn[number % DRAWN], number // EPOCH * SLOTS
        times = {"arrival": later, "start": given["start"] + later, "end": given["end"] + later}
        yield {**given, **times, "name": f"r{number}"}


@dataclass(slots=True)
class Answers:
    """What came back."""

    nanoseconds: list[int] = field(default_factory=list)  # of those with a verdict
    refused: int = 0
    other: int = 0
    seconds: float = 0.0
    early_mb: float = 0.0

    def row(self, name: str, method: str, clients: int, **more: Any) -> dict[str, Any]:
        """As a row of the results."""
        p50, p99 = (np.percentile(self.nanoseconds, (50, 99)) / 1e6).tolist() if self.nanoseconds else (0.0, 0.0)
        shown = {"offers": len(self.nanoseconds), "refused": self.refused, "other": self.other, "seconds": f"{self.seconds:.2f}"}
        shown |= {"per_second": f"{len(self.nanoseconds) / self.seconds:.0f}", "p50_ms": f"{p50:.2f}", "p99_ms": f"{p99:.2f}"}
        about = {"commit": commit(), "machine": machine(), "name": name, "method": method, "clients": clients}
        empty = {"cpu_seconds": "", "early_mb": "", "end_mb": "", "log": "", "target": ""}
        return about | shown | empty | more


def bare(requests: ClusterRequests, method: str, count: int) -> Answers:
    """The same offers to the object itself, on one thread; each is read from JSON as the service does."""
    admission, answers = LiveAdmission(requests.zones, method=method), Answers()
    bodies = [json.dumps(given) for given in offered(requests, count)]
    began = time.perf_counter()
    for body in bodies:
        at = time.perf_counter_ns()
        admission.offer(request_of(json.loads(body), requests.zones, base_units=True))
        answers.nanoseconds.append(time.perf_counter_ns() - at)
    answers.seconds = time.perf_counter() - began
    return answers


class _Client(asyncio.Protocol):
    """One connection that is kept: sends a request, and waits for its whole answer."""

    def __init__(self) -> None:
        self._buffer, self._waiting = b"", None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            self._buffer = b""
            self._waiting.set_result(int(head[9:12]))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionResetError("closed"))

    def ask(self, request: bytes) -> "asyncio.Future[int]":
        """The status of the answer."""
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiting


async def over_http(server: ServerProcess, clients: int, bodies: Iterator[dict[str, Any]], count: int) -> Answers:
    """All offers, by that many clients at the same time."""
    host, port = server.address.url.removeprefix("http://").split(":")
    loop, answers, done = asyncio.get_running_loop(), Answers(), 0
    connected = [(await loop.create_connection(_Client, host, int(port)))[1] for _ in range(clients)]
    began = time.perf_counter()
    while done < count:
        epoch = [_request(host, body) for body in _next(bodies, EPOCH)]
        waiting = iter(epoch)
        await asyncio.gather(*(_offer_all(client, waiting, answers) for client in connected))
        done += len(epoch)
        if not answers.early_mb and done >= count / 10:
            answers.early_mb = _megabytes(server)
    answers.seconds = time.perf_counter() - began
    return answers


async def _offer_all(client: _Client, waiting: Iterator[bytes], answers: Answers) -> None:
    for request in waiting:
        at = time.perf_counter_ns()
        status = await client.ask(request)
        if status == 200:
            answers.nanoseconds.append(time.perf_counter_ns() - at)
        elif status == 429:
            answers.refused += 1
        else:
            answers.other += 1


def _next(bodies: Iterator[dict[str, Any]], count: int) -> Sequence[dict[str, Any]]:
    return list(islice(bodies, count))


def _request(host: str, body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = f"POST /v1/admissions/shop/offers HTTP/1.1\r\nHost: {host}\r\nIdempotency-Key: {body['name']}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


def _megabytes(server: ServerProcess) -> float:
    """The memory that the service holds."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096 / 2**20


def _processor_seconds(server: ServerProcess) -> float:
    """The processor time of the service since it began."""
    ticks = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def served(requests: ClusterRequests, name: str, method: str, clients: int, count: int, store: str | None) -> dict[str, Any]:
    """One row: a service of its own, its clients, and what they got."""
    with tempfile.TemporaryDirectory() as folder:
        where = store or f"{folder}/serve.db"
        with ServerProcess("--store", where, "--rate", "1000000", folder=Path(folder)) as server:
            server.address.ask("DELETE", "/v1/admissions/shop")
            assert server.address.post("/v1/admissions", creation(requests, "shop", method)).status == 201
            answers = asyncio.run(over_http(server, clients, offered(requests, count), count))
            used, end, log = (
                _processor_seconds(server),
                f"{_megabytes(server):.1f}",
                server.address.get("/v1/admissions/shop").content["changes"],
            )
            assert server.end() == 0
    target = TARGET if clients == CLIENTS else "429, never a crash"
    memory = {"early_mb": f"{answers.early_mb:.1f}", "end_mb": end}
    return answers.row(name, method, clients, cpu_seconds=f"{used:.1f}", log=log, target=target, **memory)


def main() -> None:
    """Measure, and append the rows."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true")
    options.add_argument("--store")
    options.add_argument("--method", choices=METHODS, action="append")
    given = options.parse_args()
    count, requests = (10_000 if given.quick else 100_000), drawn()
    database = "PostgreSQL" if given.store else "SQLite"
    for method in given.method or METHODS:
        append(RESULTS, COLUMNS, [bare(requests, method, count // 10).row("bare object", method, 1)])
        append(RESULTS, COLUMNS, [served(requests, f"durable, {database}", method, CLIENTS, count, given.store)])
    overload = served(requests, f"overload, {database}", "learned", 10 * CLIENTS, count // 5, given.store)
    append(RESULTS, COLUMNS, [overload])


if __name__ == "__main__":
    main()
