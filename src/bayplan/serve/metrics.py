"""The metrics of the service and its probes: `/metrics`, `/healthz`, `/readyz`. No label has a value that a client chooses."""

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from bayplan.version import __version__

if TYPE_CHECKING:
    from bayplan.serve.service import Service

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
GROUP = (1, 2, 4, 8, 16, 32, 64, 128)
AREAS = ("admissions", "jobs", "snapshots", "loop", "session", "page", "probes", "other")
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")


class ServiceMetrics:
    """Counts and times of one service, in a registry of its own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = CollectorRegistry()
        made: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter(
            "bayplan_http_requests_total", "Requests by area, method and status.", ["area", "method", "status"], **made
        )
        self.seconds = Histogram(
            "bayplan_http_request_seconds",
            "From the head of a request to the end of its answer.",
            ["area"],
            buckets=SECONDS,
            **made,
        )
        self.under_way = Gauge("bayplan_http_requests_under_way", "Requests that are being answered.", **made)
        self.verdicts = Counter("bayplan_admission_verdicts_total", "Offers by verdict.", ["verdict"], **made)
        self.waiting_offers = Gauge("bayplan_admission_waiting", "Offers and other changes that wait for the writer.", **made)
        self.group = Histogram("bayplan_admission_group_size", "Changes that were committed together.", buckets=GROUP, **made)
        self.commit_seconds = Histogram(
            "bayplan_admission_commit_seconds", "To write one group to the store.", buckets=SECONDS, **made
        )
        self.jobs = Gauge("bayplan_jobs", "Jobs that wait and that run, on all servers of the store.", ["state"], **made)
        self.leases = Gauge("bayplan_admission_leases", "Admissions for which this server decides.", **made)
        Gauge("bayplan_service_info", "Always 1; the label has the version.", ["version"], **made).labels(__version__).set(1)

    def count(self, area: str, method: str, status: int, seconds: float) -> None:
        """One request that was answered."""
        self.requests.labels(area, method if method in METHODS else "other", f"{status // 100}xx").inc()
        self.seconds.labels(area).observe(seconds)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        from prometheus_client import generate_latest

        return bytes(generate_latest(self.registry))


def area_of(path: str) -> str:
    """Which part of the service a path belongs to: one of `AREAS`."""
    if path == "/" or path.startswith("/page/"):
        return "page"
    if path in ("/healthz", "/readyz", "/metrics"):
        return "probes"
    part = path[4:].partition("/")[0] if path.startswith("/v1/") else ""
    return part if part in AREAS else "other"


def router(service: "Service") -> APIRouter:
    """The probes and the metrics."""
    routes = APIRouter(tags=["probes"])

    @routes.get("/healthz", summary="Is the process alive?")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.get("/readyz", summary="Can it answer: is the store there?", responses={503: {"description": "Not now."}})
    def readyz(response: Response) -> dict[str, str]:
        if service.ending.is_set():
            response.status_code = 503
            return {"status": "the service ends"}
        if not service.admissions.is_alive:
            response.status_code = 503
            return {"status": "admissions are not decided: start it again"}
        try:
            with service.database.reading():
                return {"status": "ok"}
        except Exception as error:
            service.tell("not ready", {"reason": str(error)})
            response.status_code = 503
            return {"status": "the store cannot be used"}

    @routes.get("/metrics", summary="Metrics for Prometheus.", response_class=Response, responses={200: {"content": {TEXT: {}}}})
    async def metrics() -> Response:
        return Response(service.metrics.text(), headers={"content-type": TEXT})

    return routes
