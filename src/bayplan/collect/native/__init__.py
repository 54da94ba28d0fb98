"""bayplan's own files: snapshots and placements."""

from bayplan.collect.native.placements import placement_of_snapshot, read_native_placement
from bayplan.collect.native.read import read_native
from bayplan.collect.native.schema import PLACEMENT, SNAPSHOT
from bayplan.collect.native.write import native_document, placement_document, text_of

__all__ = [
    "PLACEMENT",
    "SNAPSHOT",
    "native_document",
    "placement_document",
    "placement_of_snapshot",
    "read_native",
    "read_native_placement",
    "text_of",
]
