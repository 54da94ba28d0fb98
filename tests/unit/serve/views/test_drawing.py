"""Drawings of snapshots are made once, in a process of their own, and only the last ones are kept."""

import gzip
import json

import pytest

import bayplan as bp
from bayplan.errors import InputError
from bayplan.serve.app import make_service
from bayplan.serve.settings import ServeSettings
from bayplan.serve.views import drawing
from bayplan.serve.views.drawing import KEPT, Drawings


@pytest.fixture
def snapshots(tmp_path):
    service = make_service(ServeSettings(store=str(tmp_path / "serve.db"), folder=tmp_path / "files"))
    yield service.jobs.snapshots
    service.database.close()


def sent(snapshots, tmp_path, name):
    file = tmp_path / f"{name}.json"
    bp.write(bp.ClusterBuilder(name).machine("m", cpu=4).workload("web", cpu=1, on="m").build(), file)
    return snapshots.keep(file.read_bytes(), "json")[0].id


def test_a_drawing_has_columns_and_findings(snapshots, tmp_path):
    made = Drawings(snapshots).of(sent(snapshots, tmp_path, "one"))
    assert json.loads(gzip.decompress(made.columns))["machines"]["name"] == ["m"]
    assert made.findings["valid"]


def test_it_is_made_once_and_only_the_last_are_kept(snapshots, tmp_path, monkeypatch):
    asked = []

    def counted(call, folder, *_, **__):
        asked.append(folder.name)
        return "drawn", {"columns": b"", "findings": {}}

    monkeypatch.setattr(drawing, "call_in_process", counted)
    drawings = Drawings(snapshots)
    names = [sent(snapshots, tmp_path, f"c{k}") for k in range(KEPT + 1)]
    for name in names:
        drawings.of(name)
        drawings.of(name)
    assert asked == names
    drawings.of(names[0])
    assert asked == [*names, names[0]]


def test_a_process_that_says_nothing_is_a_numbered_fault(snapshots, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "call_in_process", lambda *_, **__: None)
    with pytest.raises(InputError, match="E2742"):
        Drawings(snapshots).of(sent(snapshots, tmp_path, "one"))


def test_a_snapshot_that_is_not_there_is_not_drawn(snapshots):
    with pytest.raises(InputError, match="E2735"):
        Drawings(snapshots).of(f"sha256-{'0' * 64}")
