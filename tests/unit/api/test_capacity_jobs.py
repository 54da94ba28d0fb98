"""Failures looked at in jobs: the same outcomes as in one go, in the same order, and nothing lost in silence."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.api.capacity import failure_jobs
from bayplan.engine import EngineLostError
from bayplan.model.interrupt import stoppable

CLUSTERS = {"boutique": lambda: bp.generate("boutique"), "sample": lambda: cluster_of(machines=45, services=20, replicas=6)}
every_cluster = pytest.mark.parametrize("snapshot", [make() for make in CLUSTERS.values()], ids=CLUSTERS)


def seen(answer) -> list[tuple[object, ...]]:
    """All that is said of each failure."""
    return [
        (
            outcome.failure.group,
            outcome.verdict,
            outcome.proof,
            outcome.severity,
            outcome.further.kind,
            outcome.replacement.container.tolist(),
            outcome.replacement.machine.tolist(),
        )
        for outcome in answer.outcomes
    ]


@every_cluster
@pytest.mark.parametrize("may_move", [False, True])
def test_jobs_say_the_same_as_one_state_in_one_go(snapshot, may_move, monkeypatch):
    whole = bp.capacity(snapshot, may_move=may_move)
    for fewest in (1, 7, 20):
        monkeypatch.setattr(failure_jobs, "FEWEST", fewest)
        assert seen(bp.capacity(snapshot, may_move=may_move, engine="here")) == seen(whole)


@pytest.mark.parametrize("threads", [2, 3])
def test_a_pool_says_the_same(threads):
    snapshot = CLUSTERS["sample"]()
    here, pool = bp.capacity(snapshot), bp.capacity(snapshot, engine="pool", threads=threads)
    assert seen(pool) == seen(here)
    assert pool.notes == here.notes
    assert pool.to_dict()["levels"] == here.to_dict()["levels"]


def test_a_stop_keeps_what_is_there(monkeypatch):
    monkeypatch.setattr(failure_jobs, "FEWEST", 5)
    with stoppable() as stop:

        def halt(tick):
            stop.requested = True

        answer = bp.capacity(CLUSTERS["sample"](), engine="here", progress=halt)
    assert answer.interrupted
    assert len(answer.outcomes) == 5
    assert answer.holds is not True


def dying(shared, failures, until):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_lost_worker_is_replaced_and_named(monkeypatch, tmp_path):
    snapshot = CLUSTERS["sample"]()
    whole = bp.capacity(snapshot)
    job = failure_jobs.Job
    mark = tmp_path / "mark"

    def lost_first(**about):
        return job(**{**about, "call": lost_once, "arguments": (str(mark), *about["arguments"])})

    monkeypatch.setattr(failure_jobs, "Job", lost_first)
    answer = bp.capacity(snapshot, engine="pool", threads=2)
    assert seen(answer) == seen(whole)
    assert any("was lost: its process died" in note for note in answer.notes)
    assert answer.to_dict()["notes"] == list(answer.notes)


def lost_once(mark, shared, failures, until):
    """The outcomes of some failures; the first process that comes here dies."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return failure_jobs.survived(shared, failures, until)
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_an_engine_that_brings_nothing_is_an_error(monkeypatch):
    monkeypatch.setattr(failure_jobs, "survived", dying)
    with pytest.raises(EngineLostError, match=r"job 'failures \d of \d' was lost 3 times"):
        bp.capacity(CLUSTERS["sample"](), engine="pool", threads=2)


def test_groups_have_enough_failures_and_there_are_not_too_many():
    groups = failure_jobs._groups(list(range(5_000)))
    assert len(groups) <= failure_jobs.MOST_JOBS
    assert np.concatenate(groups).tolist() == list(range(5_000))
    assert len(failure_jobs._groups(list(range(19)))) == 1
