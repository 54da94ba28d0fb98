"""An API server on paper: lists the objects of a file that kubectl printed, over HTTP, and a kubeconfig that leads there."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlparse

import yaml


@contextmanager
def api_server(file: Path) -> Iterator[str]:
    """The address of a server with the objects of a file; kinds that are not in it have empty lists."""
    items = json.loads(file.read_text(encoding="utf-8"))["items"]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlparse(self.path).path.strip("/").split("/")
            inside = parts[parts.index("namespaces") + 1] if "namespaces" in parts[:-1] else None
            listed = [
                item
                for item in items
                if item["kind"].lower() + "s" == parts[-1] and inside in (None, item["metadata"].get("namespace"))
            ]
            body = json.dumps({"items": listed, "metadata": {"resourceVersion": "1"}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_kubeconfig(file: Path, **server_of: str) -> None:
    """A kubeconfig with a context for each name, which leads to that server."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server}} for name, server in server_of.items()],
        "users": [{"name": "me", "user": {"token": "any"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in server_of],
        "current-context": next(iter(server_of)),
    }
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
