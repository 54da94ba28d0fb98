"""Where the real data is."""

import os
import sys
from pathlib import Path

from experiments.results import ROOT


def real_file(path: str) -> Path:
    """A file or folder of the data; ends the run with what to do if it is not there."""
    folder = Path(os.environ.get("BAYPLAN_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / path).exists():
        sys.exit(f"no {folder / path}: set BAYPLAN_DATA to the folder that has {path}")
    return folder / path
