"""bayplan's own files: snapshots and placements."""

from bayplan.formats.native.read import build, placed_as, read_native, read_native_placement
from bayplan.formats.native.schema import PLACEMENT, SNAPSHOT
from bayplan.formats.native.write import native_document, placement_document, text_of

__all__ = [
    "PLACEMENT",
    "SNAPSHOT",
    "build",
    "native_document",
    "placed_as",
    "placement_document",
    "read_native",
    "read_native_placement",
    "text_of",
]
