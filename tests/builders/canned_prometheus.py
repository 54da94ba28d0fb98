"""A Prometheus that answers queries from a table, and remembers what it was asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from bayplan.kubernetes.prometheus.server import Prometheus

Canned = Sequence[tuple[Mapping[str, str], float | str]]


class CannedTransport:
    """Answers a query with the first entry whose key is a part of it; with nothing if there is none."""

    label = "a canned Prometheus"

    def __init__(self, answers: Mapping[str, Canned | Exception], names: Sequence[str] = (), **extra: Any) -> None:
        self.answers = answers
        self.names = list(names)
        self.extra = extra  # further keys of every body: warnings, infos
        self.queries: list[tuple[str, float]] = []

    def ask(self, path: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        if path.endswith("/values"):
            return {"status": "success", "data": self.names, **self.extra}
        query = parameters["query"]
        self.queries.append((query, float(parameters["time"])))
        found = next((answer for key, answer in self.answers.items() if key in query), ())
        if isinstance(found, Exception):
            raise found
        result = [{"metric": dict(labels), "value": [0, str(value)]} for labels, value in found]
        return {"status": "success", "data": {"resultType": "vector", "result": result}, **self.extra}


def canned(answers: Mapping[str, Canned | Exception], names: Sequence[str] = (), **extra: Any) -> Prometheus:
    """A connection to it."""
    return Prometheus(CannedTransport(answers, names, **extra))
