"""Snapshots as Parquet tables in one zip file: what native files say, a column at a time, for very large clusters."""

from bayplan.formats.parquet.read import build_tables, read_tables
from bayplan.formats.parquet.write import archive_of

__all__ = ["archive_of", "build_tables", "read_tables"]
