"""The record's store: what the running system writes down, in SQLite or PostgreSQL."""

from bayplan.model.record import Lease, Pause
from bayplan.operate.store.failures import LostLeaseError, StoreError
from bayplan.operate.store.store import Store

__all__ = ["Lease", "LostLeaseError", "Pause", "Store", "StoreError"]
