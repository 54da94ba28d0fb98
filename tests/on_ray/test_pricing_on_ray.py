"""Pricing and bounds on a real Ray cluster: the answers of this process, also where a worker is lost."""

import numpy as np
import pytest
from tests.builders.odd_engines import losing_one_worker
from tests.builders.priced_cluster import collocated, content

import bayplan as bp
from bayplan.engine import lazy

pytestmark = pytest.mark.ray


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever can be sent is sent."""
    monkeypatch.setattr(lazy, "START", 0.0)
    monkeypatch.setattr(lazy, "LEAST", -1.0)


def packed(engine):
    fleet = bp.generate("ucac", services=6, scale=0.02, machines=30)
    answer = bp.pack(fleet, confidence=0.99, confidence_of={"*1": 0.999}, budget=bp.Budget(iterations=12), engine=engine)
    return answer.placement.machine_of.tolist(), dict(answer.score), answer.bound, answer.levels


def test_collocate_gives_the_placement_the_score_and_the_bound_of_this_process(ray_engine):
    answer = collocated(ray_engine)
    assert content(answer) == content(collocated("here"))
    assert answer.bound is not None
    assert not [note for note in answer.result.notes if note.startswith("engine:")]


def test_a_lost_worker_is_repeated_and_noted(ray_engine, tmp_path):
    answer = collocated(losing_one_worker(ray_engine, tmp_path / "mark"))
    assert content(answer) == content(collocated("here"))
    lost = [note for note in answer.result.notes if note.startswith("engine: job '")]
    assert len(lost) == 1
    assert "died; it is repeated elsewhere (attempt 2 of 3)" in lost[0]


def test_pack_gives_the_answer_of_this_process(ray_engine):
    there, here = packed(ray_engine), packed("here")
    assert there == here
    assert here[2] is None or np.isfinite(here[2])
