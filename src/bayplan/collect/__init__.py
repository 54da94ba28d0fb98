"""World -> model: native files, RASA, GMRP, traces."""

from bayplan.collect.files import Document, read, read_any, read_placement, write, write_placement, write_snapshot

__all__ = ["Document", "read", "read_any", "read_placement", "write", "write_placement", "write_snapshot"]
