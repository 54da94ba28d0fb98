"""The Prometheus of the tests is a real one that scrapes what a test serves."""

import json
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlencode

import pytest
from tests.kubernetes.waiting import wait_until

pytestmark = pytest.mark.kubernetes


class _Exporter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(b'tests_requests_total{source="web",destination="cart"} 7\n')

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def exporter() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Exporter) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_it_answers_queries_about_what_an_exporter_serves(prometheus_server, exporter):
    address = prometheus_server([exporter])
    query = urlencode({"query": 'tests_requests_total{source="web"}'})

    def series() -> list[dict[str, object]]:
        with urllib.request.urlopen(f"{address}/api/v1/query?{query}", timeout=5) as answer:
            return json.load(answer)["data"]["result"]

    (found,) = wait_until(series, "the first scrape", seconds=30)
    assert (found["metric"]["destination"], found["value"][1]) == ("cart", "7")
