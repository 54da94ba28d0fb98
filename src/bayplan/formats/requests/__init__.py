"""Timed requests: documents in columns, tables, and fleets of machines to serve them."""

from bayplan.formats.requests.document import RequestsFile, requests_text, write_requests
from bayplan.formats.requests.fleet import read_fleet

__all__ = ["RequestsFile", "read_fleet", "requests_text", "write_requests"]
