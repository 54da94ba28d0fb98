"""What a service is started with: where it listens, where it stores, which tokens it knows, and its limits."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bayplan.errors import UsageError

STORE = "bayplan-serve.db"
FOLDER = "bayplan-serve"
MEGABYTE = 2**20
DAY = 86400.0
SHORTEST_TOKEN = 16  # characters: a guess must be hopeless
OPERATOR, READER = "BAYPLAN_TOKEN", "BAYPLAN_READ_TOKEN"  # environment variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one client may ask for, so that it cannot harm the others."""

    file_bytes: int = 64 * MEGABYTE  # of a body that holds a file
    unpacked_bytes: int = 512 * MEGABYTE  # of a compressed file, unpacked
    body_bytes: int = MEGABYTE  # of every other body
    head_bytes: int = 32 * 1024  # of the request line and all headers
    head_seconds: float = 10.0  # for the head to arrive
    body_seconds: float = 60.0  # for the body to arrive
    answer_seconds: float = 60.0  # until an answer begins
    idle_seconds: float = 75.0  # of a connection between two requests, and of a client that does not read its answer
    connections: int = 1024
    requests: int = 512  # at the same time
    streams: int = 32  # of events, at the same time, of one token, or of one address where there are no tokens
    rate: float = 2000.0  # requests a second of one token, or of one address where there are no tokens
    jobs: int = 2  # that run at the same time
    waiting_jobs: int = 100
    job_seconds: float = 3600.0  # that a job may ask for
    job_threads: int = 8  # that a job may ask for
    job_memory: int = 8 * 1024 * MEGABYTE  # bytes that the process of a job may take
    reading_memory: int = 4 * 1024 * MEGABYTE  # bytes that a process may take that reads a file, or draws it
    waiting_offers: int = 128  # of all admissions together; one more is refused with 429
    drain_seconds: float = 30.0  # for requests under way when the service ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """How long things are kept, in seconds."""

    jobs: float = 7 * DAY
    snapshots: float = 30 * DAY  # since they were last used
    log: float = 30 * DAY  # entries of an admission's log that no replay needs any more; also idempotency keys
    session: float = 0.5 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Everything that a service is started with."""

    host: str = "127.0.0.1"  # "" for all interfaces
    port: int = 8080  # 0: any that is free
    store: str = STORE  # a path, or postgresql://user@host/database
    folder: Path = Path(FOLDER)  # for files that do not belong into a database
    operators: tuple[str, ...] = field(default=(), repr=False)  # tokens that may do everything
    readers: tuple[str, ...] = field(default=(), repr=False)  # tokens that may read
    certificate: Path | None = None
    key: Path | None = None
    record: str = ""  # the record of a loop, to show and to steer; empty: none
    demo: bool = False
    limits: Limits = field(default_factory=Limits)
    ages: Ages = field(default_factory=Ages)

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--certificate and --key belong together: expected both or none")
        for token in (*self.operators, *self.readers):
            _expect_token(token)
        if set(self.operators) & set(self.readers):
            raise UsageError("one token is given to read and to operate; expected a token of its own for each role")
        if not self.is_local and not self.operators:
            raise UsageError(
                f"'{self.host or 'all interfaces'}' can be reached by other machines, so a token is needed: "
                f"expected --token-file FILE or the environment variable {OPERATOR}; 127.0.0.1 needs none"
            )

    @property
    def is_local(self) -> bool:
        """Can only this machine reach it?"""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_open(self) -> bool:
        """Are there no tokens: may everyone on this machine do everything?"""
        return not self.operators and not self.readers

    @property
    def scheme(self) -> str:
        """`https` with a certificate, else `http`."""
        return "http" if self.certificate is None else "https"


def read_tokens(file: Path | None, variable: str, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The tokens of a file, one a line (# begins a comment), and the one of an environment variable."""
    given = (os.environ if environment is None else environment).get(variable, "").strip()
    tokens = [given] if given else []
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"cannot read the tokens of '{file}': {reason}") from error
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            raise UsageError(f"there is no token in '{file}'; expected one a line")
        tokens += lines
    return tuple(dict.fromkeys(tokens))


def _expect_token(token: str) -> None:
    """UsageError if it is easy to guess or cannot stand in a header; it is not repeated in the message."""
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(f"a token has {len(token)} characters; expected at least {SHORTEST_TOKEN}, such as openssl rand -hex 24")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("a token has a blank or a character that no header holds; expected letters, digits and signs")
