"""`collocate` with types of machines priced, and bounds proven, on an engine."""

import time

import pytest
from tests.builders import priced_cluster
from tests.builders.odd_engines import OddEngine
from tests.builders.priced_cluster import collocated, content

import bayplan as bp
from bayplan.engine import lazy
from bayplan.model.interrupt import stoppable


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever can be sent is sent."""
    monkeypatch.setattr(lazy, "START", 0.0)
    monkeypatch.setattr(lazy, "LEAST", -1.0)


@pytest.fixture(scope="module")
def here():
    return content(collocated())


def test_no_engine_and_here_are_the_same(here):
    assert content(collocated("here", threads=3)) == here


@pytest.mark.parametrize("slots", [2, 5])
def test_workers_give_the_placement_the_score_and_the_bound_of_this_process(slots, here):
    odd = OddEngine(slots=slots)
    answer = collocated(odd)
    assert content(answer) == here
    assert answer.bound is not None
    assert answer.score["affinity"] <= answer.bound
    assert any(name.startswith("pricing of ") for name in odd.sent)


def test_a_pool_of_two_and_three_gives_the_answer_of_this_process(here):
    with bp.engine("pool") as pool:
        assert [content(collocated(pool, threads=workers)) for workers in (2, 3)] == [here, here]


def test_an_engine_that_is_lost_is_noted_and_changes_nothing(here):
    answer = collocated(OddEngine(lost_after=3))
    assert content(answer) == here
    assert "engine: engine 'odd' is lost: all at once; the rest was done in this process" in answer.result.notes


def test_best_prices_on_the_engine_and_notes_what_was_lost():
    odd = OddEngine(lost_after=1)
    answer = bp.collocate(priced_cluster.snapshot(), trivial="pinned", seconds=6, engine=odd)
    if odd.sent:  # a busy machine may have no time for a round of branch and bound
        assert any(note.startswith("engine: engine 'odd' is lost") for note in answer.result.notes)
    assert answer.score["affinity"] > answer.before["affinity"]


def test_a_stop_while_workers_price_keeps_the_best_so_far():
    class Stopped(OddEngine):
        def stream(self, jobs, **options):
            for answer in super().stream(jobs, **options):
                yield answer
                stop.requested = True

    began = time.perf_counter()
    with stoppable() as stop:
        answer = collocated(Stopped(), iterations=500)
    assert time.perf_counter() - began < 60.0
    assert answer.interrupted
    assert answer.score["affinity"] >= answer.before["affinity"]


def test_parts_start_no_workers_of_their_own():
    """A part is a job: what it prices stays in its worker."""
    odd = OddEngine(slots=2)
    bp.collocate(priced_cluster.snapshot(), parts=2, budget=bp.Budget(iterations=2_000), engine=odd)
    assert odd.sent
    assert not any(name.startswith("pricing") for name in odd.sent)
