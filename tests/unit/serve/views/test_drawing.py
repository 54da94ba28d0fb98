"""Drawings of snapshots are made once, in a process of their own, and only the last ones are kept."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bayplan as bp
from bayplan.errors import InputError
from bayplan.serve.app import make_service
from bayplan.serve.settings import ServeSettings
from bayplan.serve.views import drawing
from bayplan.serve.views.drawing import FAILED_SECONDS, KEPT, MAKING, WAITING, Drawings

PATIENCE = 240.0


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


def test_a_failure_is_kept_for_a_while(snapshots, tmp_path, monkeypatch):
    asked, now = [], [0.0]
    monkeypatch.setattr(drawing, "call_in_process", lambda *_, **__: asked.append(1))
    drawings, name = Drawings(snapshots, clock=lambda: now[0]), sent(snapshots, tmp_path, "one")
    for _ in range(3):
        with pytest.raises(InputError, match="E2742"):
            drawings.of(name)
    assert len(asked) == 1
    now[0] = FAILED_SECONDS
    with pytest.raises(InputError, match="E2742"):
        drawings.of(name)
    assert len(asked) == 2


class _Held:
    """A drawing begins, and ends when it is let go."""

    def __init__(self, monkeypatch):
        self.begun, self.let_go, self.count = threading.Semaphore(0), threading.Event(), 0
        monkeypatch.setattr(drawing, "call_in_process", self._call)

    def _call(self, *_, **__):
        self.count += 1
        self.begun.release()
        assert self.let_go.wait(PATIENCE)
        return "drawn", {"columns": b"", "findings": {}}


def test_a_drawing_that_takes_long_holds_up_no_other_and_too_many_are_refused(snapshots, tmp_path, monkeypatch):
    held, drawings = _Held(monkeypatch), Drawings(snapshots)
    names = [sent(snapshots, tmp_path, f"c{k}") for k in range(MAKING + 1)]
    with ThreadPoolExecutor(MAKING) as threads:
        made = [threads.submit(drawings.of, name) for name in names[:MAKING]]
        try:
            for _ in made:
                assert held.begun.acquire(timeout=PATIENCE)
            with pytest.raises(InputError, match="E2706"):
                drawings.of(names[MAKING])
        finally:
            held.let_go.set()
        assert all(each.result(PATIENCE).columns == b"" for each in made)
    assert drawings.of(names[MAKING]).columns == b""


def test_those_that_ask_for_the_same_wait_for_one_process_and_not_without_limit(snapshots, tmp_path, monkeypatch):
    held, drawings = _Held(monkeypatch), Drawings(snapshots)
    name, more = sent(snapshots, tmp_path, "one"), 3
    refused = threading.Semaphore(0)

    def asked():
        try:
            return drawings.of(name)
        except InputError as error:
            refused.release()
            return error.faults[0].code

    with ThreadPoolExecutor(1 + WAITING + more) as threads:
        try:
            first = threads.submit(asked)
            assert held.begun.acquire(timeout=PATIENCE)
            others = [threads.submit(asked) for _ in range(WAITING + more)]
            for _ in range(more):
                assert refused.acquire(timeout=PATIENCE)
        finally:
            held.let_go.set()
        answers = [each.result(PATIENCE) for each in others]
        assert answers.count("E2706") == more and answers.count(first.result()) == WAITING
    assert held.count == 1


def test_a_snapshot_that_is_not_there_is_not_drawn(snapshots):
    with pytest.raises(InputError, match="E2735"):
        Drawings(snapshots).of(f"sha256-{'0' * 64}")
