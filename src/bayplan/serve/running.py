"""A service from its start to its end: it listens, answers, and drains when it is told to end."""

import asyncio
import gc
import signal
import socket
import ssl
from collections.abc import Callable
from types import FrameType

import uvicorn

from bayplan.errors import UsageError, WorldError
from bayplan.serve.access.connections import timed_connection
from bayplan.serve.app import application, make_service
from bayplan.serve.demo.demo import demo_settings
from bayplan.serve.service import Service, Tell
from bayplan.serve.settings import ServeSettings

BACKLOG = 1024
Started = Callable[[str], object]


def serve_until_told(settings: ServeSettings, tell: Tell, started: Started) -> None:
    """Serve until SIGTERM or Ctrl-C. `started` gets the address as soon as it answers."""

    def begun(address: str) -> None:
        gc.collect()
        gc.freeze()  # what was loaded stays: to look through it again and again would make all clients wait
        started(address)

    with demo_settings(settings) as chosen:
        running = RunningService(chosen, tell, begun)
        for number in (signal.SIGTERM, signal.SIGINT):  # until uvicorn listens to them, and when it sends them again at its end
            signal.signal(number, lambda *_: running.stop())
        running.run()


class RunningService:
    """A service that listens; `run` answers until it is told to end.

    Then nothing new is accepted, what is under way is answered (for `drain_seconds` at most), and the store is closed.
    """

    def __init__(self, settings: ServeSettings, tell: Tell, started: Started) -> None:
        if settings.certificate is not None:
            _expect_certificate(settings)
        self._listener = _listener(settings)
        host, port = settings.host or "0.0.0.0", self._listener.getsockname()[1]
        self.address = f"{settings.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        try:
            self.service = make_service(settings, tell)
        except BaseException:
            self._listener.close()
            raise
        self._server = _Server(_config(settings, self.service), self.service, lambda: started(self.address))

    def run(self) -> None:
        """Answer until told to end: by a signal, or by `stop`."""
        try:
            with asyncio.Runner(loop_factory=_event_loop) as runner:
                runner.run(self._server.serve(sockets=[self._listener]))
        finally:
            self._listener.close()
        if not self._server.started:
            raise WorldError("the service could not start: see the log above")

    def stop(self) -> None:
        """Tell it to end, from another thread."""
        self.service.ending.set()
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """uvicorn, told when it has started and when it is to end."""

    def __init__(self, config: uvicorn.Config, service: Service, started: Callable[[], object]) -> None:
        super().__init__(config)
        self._service, self._told_started = service, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._told_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.ending.set()  # streams that would never end do so now
        super().handle_exit(sig, frame)


def _event_loop() -> asyncio.AbstractEventLoop:
    """The event loop in C, which gathers twice as many offers into a group; Python's own where there is none."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _config(settings: ServeSettings, service: Service) -> uvicorn.Config:
    limits = settings.limits
    return uvicorn.Config(
        application(service),
        http=timed_connection(limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # an address that a client states is not believed
        limit_concurrency=limits.connections,
        timeout_keep_alive=int(limits.idle_seconds),
        timeout_graceful_shutdown=int(limits.drain_seconds),
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )


def _listener(settings: ServeSettings) -> socket.socket:
    """A socket that listens; bound here, so that a port that is taken is said in our words."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        where = f"{settings.host}:{settings.port}"
        raise WorldError(f"cannot listen on '{where}': {error.strerror or error}; choose another with --listen") from error
    listener.setblocking(False)
    return listener


def _expect_certificate(settings: ServeSettings) -> None:
    """UsageError if the certificate and its key cannot be used."""
    assert settings.certificate is not None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot use the certificate '{settings.certificate}' with its key: {type(error).__name__}") from error
