"""The gate as a webhook: API servers without such policies ask this process whether a new pod is to wait.

Any process of ours can answer: whether a pod waits is read from the reservation on the cluster, so it does not matter which of
several controllers is asked. No pod is ever refused; what is asked wrongly, or too late, gets no gate.
"""

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.errors import Fault, InputError, UsageError
from bayplan.kubernetes.client import Json
from bayplan.kubernetes.execute.reservation import PodReservation
from bayplan.kubernetes.json_server import JsonAnswer, JsonServer, Tell
from bayplan.kubernetes.marks import GATE

PATH = "/gate/"  # and the name of the object that holds the reservation
LISTEN = ":9443"
MEMORY = 1.0  # seconds for which a reservation that was read counts
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"  # as in a Secret of the type kubernetes.io/tls
_SERVICE = re.compile(r"(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9-]+)(:(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAddress:
    """Where API servers reach the webhook: an https address, or `NAMESPACE/SERVICE[:PORT]`; and who signed its certificate."""

    reach: str
    authority: str  # certificates, PEM

    def __post_init__(self) -> None:
        if not (self.reach.startswith("https://") or _SERVICE.fullmatch(self.reach)):
            raise UsageError(f"--webhook '{self.reach}': expected NAMESPACE/SERVICE[:PORT], or https://HOST:PORT")

    def client_config(self, holder: str) -> Json:
        """What the API server is told."""
        bundle = base64.b64encode(self.authority.encode()).decode()
        if self.reach.startswith("https://"):
            return {"url": f"{self.reach.rstrip('/')}{PATH}{holder}", "caBundle": bundle}
        found = _SERVICE.fullmatch(self.reach)
        assert found is not None  # as __post_init__ has seen
        service = {"namespace": found["namespace"], "name": found["name"], "port": int(found["port"] or 443)}
        return {"service": {**service, "path": f"{PATH}{holder}"}, "caBundle": bundle}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """What was said about a webhook."""

    reach: str
    certificates: Path  # a folder
    listen: str = LISTEN

    def address(self) -> WebhookAddress:
        """What the API server is told about it."""
        try:
            authority = (self.certificates / AUTHORITY).read_text()
        except OSError as error:
            raise UsageError(f"--webhook-certs '{self.certificates}': cannot read {AUTHORITY}: {error.strerror}") from error
        return WebhookAddress(reach=self.reach, authority=authority)


Find = Callable[[str], PodReservation | None]  # the reservation that an object of ours holds


class GateAnswers:
    """Answers API servers: does this new pod wait?"""

    def __init__(self, find: Find, clock: Callable[[], float] = time.time) -> None:
        self._find, self._clock = find, clock
        self._read: dict[str, tuple[float, PodReservation | None]] = {}

    def answer(self, holder: str, body: bytes) -> JsonAnswer:
        """The answer to an AdmissionReview about a pod."""
        request = _request(body)
        pod = request["object"]
        gated = self._is_moved(holder, pod) and not _gates(pod)
        response: Json = {"uid": request["uid"], "allowed": True}
        if gated:
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(_patch(pod)).encode()).decode()}
        about = pod.get("metadata") or {}
        name = f"{request.get('namespace', '')}/{about.get('name') or about.get('generateName', '')}"
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return JsonAnswer(review, {"pod": name, "gated": gated})

    def _is_moved(self, holder: str, pod: Json) -> bool:
        reservation = self._reservation(holder)
        if reservation is None or reservation.until <= self._clock():
            return False
        references = (pod.get("metadata") or {}).get("ownerReferences") or ()
        return any(one.get("controller") and one.get("uid") in reservation.owners for one in references)

    def _reservation(self, holder: str) -> PodReservation | None:
        at, known = self._read.get(holder, (-MEMORY, None))
        now = time.monotonic()
        if now - at >= MEMORY:
            known = self._find(holder)
            self._read = {holder: (now, known)}  # one plan is under way at a time
        return known


def _gates(pod: Json) -> bool:
    return any(gate.get("name") == GATE for gate in pod["spec"].get("schedulingGates") or ())


def _patch(pod: Json) -> list[Json]:
    gate = {"name": GATE}
    if pod["spec"].get("schedulingGates"):
        return [{"op": "add", "path": "/spec/schedulingGates/-", "value": gate}]
    return [{"op": "add", "path": "/spec/schedulingGates", "value": [gate]}]


def _request(body: bytes) -> Json:
    """The request of an AdmissionReview about a new pod; InputError if it is none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _fault("E2501", "is not JSON", str(error)[:80]) from error
    request: Any = document.get("request") if isinstance(document, dict) else None
    pod = request.get("object") if isinstance(request, dict) else None
    if not isinstance(pod, dict) or not isinstance(pod.get("spec"), dict) or not isinstance(request.get("uid"), str):
        raise _fault("E2504", "is no AdmissionReview of a pod", type(document).__name__)
    found: Json = request
    return found


def _fault(code: str, problem: str, value: str) -> InputError:
    expected = '{"request": {"uid": "...", "object": {"metadata": {...}, "spec": {...}}}}'
    return InputError("request", [Fault(code=code, kind="request", name="", problem=problem, value=value, expected=expected)])


@contextmanager
def answering(settings: WebhookSettings, find: Find, tell: Tell) -> Iterator[JsonServer]:
    """API servers are answered until the end of the block."""
    tls = (str(settings.certificates / CERTIFICATE), str(settings.certificates / KEY))
    server = JsonServer({PATH: GateAnswers(find).answer}, settings.listen, tell=tell, tls=tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, name="webhook", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
