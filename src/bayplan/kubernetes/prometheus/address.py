"""The address of a Prometheus server, and how we identify ourselves there.

A token comes from the variable `BAYPLAN_PROMETHEUS_TOKEN` or from a file that `BAYPLAN_PROMETHEUS_TOKEN_FILE` names, a user and
password from the address. They are sent, and never shown: not in a message, not in `repr`.
"""

import base64
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

TOKEN = "BAYPLAN_PROMETHEUS_TOKEN"  # names of variables
TOKEN_FILE = "BAYPLAN_PROMETHEUS_TOKEN_FILE"
CA_FILE = "BAYPLAN_PROMETHEUS_CA"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Where a server is, with what identifies us."""

    url: str  # without user, password and the last slash
    token_file: str = ""  # read for every request, since a short-lived token is renewed in its file
    ca_file: str = ""  # certificates to trust instead of the system's
    _password: str = field(default="", repr=False)  # "user:password"

    @classmethod
    def parse(cls, text: str) -> "ServerAddress":
        """An address as the user writes it, `https://prometheus.example.org/path`, with the files that the environment names."""
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"--prometheus '{cls.shown(text)}': {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"--prometheus '{cls.shown(text)}': expected an address such as http://prometheus.example.org:9090")
        token_file, ca_file = _file(TOKEN_FILE), _file(CA_FILE)
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        url = urlunsplit((parts.scheme, f"{host}:{port}" if port else host, parts.path.rstrip("/"), "", ""))
        password = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
        return cls(url=url, token_file=token_file, ca_file=ca_file, _password=password)

    @staticmethod
    def shown(text: str) -> str:
        """An address as messages may show it: nothing before an `@`, no parameters."""
        scheme, mark, rest = text.rpartition("://")
        return (scheme + mark + rest.rpartition("@")[2]).partition("?")[0]

    def open(self, path: str, parameters: Mapping[str, str], seconds: float) -> Any:
        """The answer to one request."""
        from urllib.request import Request

        body = urlencode(parameters).encode() if parameters else None
        headers = {"Accept": "application/json", "User-Agent": "bayplan", **self._identity()}
        return self._opener().open(Request(f"{self.url}{path}", data=body, headers=headers), timeout=seconds)

    def _opener(self) -> "OpenerDirector":
        """Opens addresses, through the proxies that the environment names, and follows no redirect."""
        from urllib.request import (
            HTTPDefaultErrorHandler,
            HTTPErrorProcessor,
            HTTPHandler,
            HTTPSHandler,
            OpenerDirector,
            ProxyHandler,
        )

        trusted = ssl.create_default_context(cafile=self.ca_file or None)
        opener = OpenerDirector()
        handlers = (ProxyHandler(), HTTPHandler(), HTTPSHandler(context=trusted), HTTPErrorProcessor(), HTTPDefaultErrorHandler())
        for handler in handlers:
            opener.add_handler(handler)
        return opener

    def _identity(self) -> Mapping[str, str]:
        token = (
            Path(self.token_file).read_text(encoding="utf-8").strip() if self.token_file else os.environ.get(TOKEN, "").strip()
        )
        if token:
            return {"Authorization": f"Bearer {token}"}
        if self._password:
            return {"Authorization": f"Basic {base64.b64encode(self._password.encode()).decode()}"}
        return {}


def _file(variable: str) -> str:
    """The file that a variable names; nothing if it is not set."""
    file = os.environ.get(variable, "")
    if file and not Path(file).is_file():
        raise UsageError(f"{variable} '{file}' is no file")
    return file
