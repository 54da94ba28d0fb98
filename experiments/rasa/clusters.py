"""The clusters: the published M3, and generated ones at the sizes of the other three ([RASA] Table II)."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bayplan.formats import write
from bayplan.generate import GENERATORS
from bayplan.model import Snapshot
from experiments.calibration.data import real_file
from experiments.results import commit

M3 = "M3"
FILE = "rasa/M3.json"
CLUSTERS = ("rasa-m1", "rasa-m2", M3, "rasa-m4")
SEED = 0  # of the generator


def has_data() -> bool:
    """Is M3 there?"""
    try:
        real_file(FILE)
    except SystemExit:
        return False
    return True


def file_of(cluster: str) -> Path:
    """The file of a cluster; generated ones are written once for each commit, into a temporary folder."""
    if cluster == M3:
        return real_file(FILE)
    path = _folder() / f"{cluster}-{SEED}-{commit()}.json"
    if not path.is_file():
        made = GENERATORS[cluster].make(seed=SEED)
        assert isinstance(made, Snapshot)
        unfinished = path.with_suffix(f".{os.getpid()}.json")
        write(made, unfinished)
        unfinished.rename(path)
    return path


def answer_file(question: Sequence[str]) -> Path:
    """Where the answer to a question is kept for a cell that starts from it."""
    return _folder() / f"answer-{'-'.join(filter(None, question))}-{commit()}.json"


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "bayplan-rasa"
    folder.mkdir(exist_ok=True)
    return folder
