"""The extender as an HTTP server: `POST /filter`, `POST /prioritize`, `GET /healthz`, `GET /readyz`.

An error is a status and one line of JSON; kube-scheduler goes on without us then, if it was told `ignorable: true`.
"""

from collections.abc import Callable
from typing import Any

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.extender.decisions import Extender
from bayplan.kubernetes.extender.protocol import ExtenderArguments, read_arguments
from bayplan.kubernetes.json_server import Answer, JsonAnswer, JsonServer, Tell

LISTEN = "127.0.0.1:8888"


class ExtenderServer(JsonServer):
    """Answers kube-scheduler."""

    def __init__(self, extender: Extender, listen: str = LISTEN, *, tell: Tell, tls: tuple[str, str] | None = None) -> None:
        prioritise = _answering(extender.prioritise)
        answers = {"/filter": _answering(extender.filter), "/prioritize": prioritise, "/prioritise": prioritise}
        super().__init__(answers, listen, tell=tell, ready=extender.ready, tls=tls)


def _answering(verb: Callable[[ExtenderArguments], Any]) -> Answer:
    def answer(rest: str, body: bytes) -> JsonAnswer:
        arguments = read_arguments(body)
        answered = verb(arguments)
        return JsonAnswer(answered, {"pod": arguments.pod_name, "nodes": len(arguments.names), **_outcome(answered)})

    return answer


def _outcome(answer: Any) -> Json:
    """What the log says about an answer: how many nodes pass, or which is preferred."""
    if isinstance(answer, list):
        best = max(answer, key=lambda each: each["Score"], default=None)
        return {"preferred": best["Host"] if best and best["Score"] else ""}
    passed = answer["NodeNames"] if answer["NodeNames"] is not None else answer["Nodes"]["items"]
    return {"passed": len(passed)}
