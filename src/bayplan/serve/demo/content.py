"""What the demo begins with: a shop, a cluster at a paper's scale, services of uncertain size, and timed requests."""

import gzip
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bayplan as bp
from bayplan.serve.jobs.snapshots import SnapshotFolder

CONTENT: Mapping[str, Callable[[], Any]] = {  # the first is what the page opens on
    "boutique": lambda: bp.generate("boutique"),
    "rasa-m3": lambda: bp.generate("rasa-m3"),
    "ucac": lambda: bp.generate("ucac", services=12, scale=0.05, machines=120),
    "requests": lambda: bp.generate("requests", n=400, machines=6, load=2.0),
}


def fill(snapshots: SnapshotFolder) -> None:
    """Keep every snapshot of the demo; the newest is listed first."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in reversed(list(CONTENT.items())):
            file = Path(folder) / f"{name}.json"
            bp.write(make(), file)
            snapshots.keep(gzip.compress(file.read_bytes()), "json")
