"""Streams of cluster requests: native documents, JSON lines and tables, read request by request."""

from bayplan.formats.streams.document import json_lines, table_text
from bayplan.formats.streams.entry import request_of
from bayplan.formats.streams.read import Stream, has_lines, is_stream, read_stream, stream_in

__all__ = ["Stream", "has_lines", "is_stream", "json_lines", "read_stream", "request_of", "stream_in", "table_text"]
