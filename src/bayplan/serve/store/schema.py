"""The metadata that all tables of the service share, and how its store is opened.

The tables stand in the modules beside this one; whoever opens the store has imported them by then.
"""

import os

import sqlalchemy as sa

from bayplan.operate.store.database import Database, location
from bayplan.operate.store.schema import Schema, version_table

VERSION = 1
CONNECTIONS = 5  # threads that use the store at the same time: the writer of admissions, readers, jobs

metadata = sa.MetaData()
version_table(metadata)

PATIENCE = "10s"  # a server that sleeps in the middle of a write keeps its locks no longer than its lease
SESSION = (f"SET lock_timeout = '{PATIENCE}'", f"SET idle_in_transaction_session_timeout = '{PATIENCE}'")
SERVICE = Schema(part="service", version=VERSION, metadata=metadata, noun="store", session=SESSION)


def open_store(where: str | os.PathLike[str]) -> Database:
    """The store at a path, `sqlite:///path`, `postgresql://...` or `:memory:`; its tables are made if there are none."""
    return Database(location(where), SERVICE, CONNECTIONS)
