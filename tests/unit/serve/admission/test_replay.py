"""A restart goes on exactly where it ended: decisions, prices and history equal those of a process that never stopped."""

import json
import sqlite3
import zlib
from itertools import pairwise

import numpy as np
import pytest
from tests.builders.offered import METHODS, changes, description, outcome, run, stream, writer

from bayplan.errors import InputError
from bayplan.serve.admission import changes as change
from bayplan.serve.admission import writer as writing
from bayplan.serve.admission.state import AdmissionState, made_of
from bayplan.serve.problems import RequestRefusedError

every_method = pytest.mark.parametrize("method", METHODS)


def uninterrupted(described, all_changes):
    """The outcomes of one live object that never stops, and the object."""
    admission, base_units = made_of(described)
    outcomes, number = [], 0
    for kind, given in all_changes:
        try:
            told = change.apply(admission, kind, given, base_units)
        except InputError as error:
            outcomes.append(error.faults[0].code)
            continue
        number += 1
        outcomes.append(json.loads(change.encoded({"seq": number, **told})))
    return outcomes, admission


def restarted(path, part, *, drained=False):
    """The outcomes of some changes, from a writer that begins with what the store has."""
    with writer(path) as made:

        async def work(made):
            return [await outcome(made, kind, given) for kind, given in part]

        return run(made, work, drained)


@pytest.mark.long
@every_method
@pytest.mark.parametrize("drained", [True, False], ids=["ended in order", "killed"])
@pytest.mark.parametrize("every", [1, 7, 10_000], ids=lambda every: f"a snapshot every {every}")
def test_decisions_after_restarts_equal_those_of_a_process_that_never_stopped(method, drained, every, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SNAPSHOT_EVERY", every)
    monkeypatch.setattr(writing, "LEASE", 0.0)  # the process of the one that was killed is this one: it still runs
    requests = stream(count=120, slots=12)
    described, all_changes = description(requests, method), list(changes(requests))
    expected, _ = uninterrupted(described, all_changes)
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", described)
    cuts = [0, 1, 20, 21, 50, len(all_changes)]
    outcomes = [
        each
        for first, last in pairwise(cuts)
        for each in restarted(tmp_path / "serve.db", all_changes[first:last], drained=drained)
    ]
    assert outcomes == expected
    assert {each["accepted"] for each in outcomes if isinstance(each, dict) and "accepted" in each} == {True, False}


@every_method
def test_prices_and_history_survive_a_restart(method, tmp_path):
    requests = stream(count=80, slots=200)
    described, all_changes = description(requests, method), list(changes(requests))
    _, admission = uninterrupted(described, all_changes)
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", described)
    for first in range(0, len(all_changes), 25):
        restarted(tmp_path / "serve.db", all_changes[first : first + 25], drained=True)
    with writer(tmp_path / "serve.db") as made:
        state = AdmissionState(made.store.find("shop"), made.store)
    for told, expected in ((state.admission.history(), admission.history()),):
        assert len(expected.start) > 100
        np.testing.assert_array_equal(told.start, expected.start)
        np.testing.assert_array_equal(told.zone, expected.zone)
        np.testing.assert_array_equal(told.link, expected.link)
    assert state.admission.snapshot() == admission.snapshot()


def test_a_damaged_snapshot_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SNAPSHOT_EVERY", 10)
    requests = stream()
    described, all_changes = description(requests, "learned"), list(changes(requests))
    expected, _ = uninterrupted(described, all_changes)
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", described)
    outcomes = restarted(tmp_path / "serve.db", all_changes[:40], drained=True)
    with sqlite3.connect(tmp_path / "serve.db") as connection:
        newest, damaged = "seq = (SELECT max(seq) FROM admission_snapshots)", zlib.compress(b'{"bayplan-admission": 3}')
        connection.execute(f"UPDATE admission_snapshots SET data = ? WHERE {newest}", (damaged,))
    connection.close()
    assert outcomes + restarted(tmp_path / "serve.db", all_changes[40:]) == expected


def test_a_log_that_comes_to_another_outcome_is_not_gone_on_from(tmp_path):
    requests = stream()
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", description(requests, "available"))
    restarted(tmp_path / "serve.db", list(changes(requests))[:5])
    with sqlite3.connect(tmp_path / "serve.db") as connection:
        change = """outcome = replace(outcome, '"accepted":true', '"accepted":false')"""
        connection.execute(f"UPDATE admission_log SET {change} WHERE seq = 2")
    connection.close()
    words = "E2718 admission 'shop': entry 2 of the log"
    with writer(tmp_path / "serve.db") as made, pytest.raises(RequestRefusedError, match=words):
        run(made, lambda made: made.change("shop", "advance", {"time": 1e6}, None))


def test_an_offer_without_arrival_arrives_now_also_in_a_replay(tmp_path):
    requests = stream()
    described = description(requests, "learned")
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", described)
    given = [(kind, {key: value for key, value in given.items() if key != "arrival"}) for kind, given in changes(requests)]
    given = [("advance", {"time": -3.5}), *((kind, given) for kind, given in given if kind == "offer")]
    first = restarted(tmp_path / "serve.db", given[:20])
    with writer(tmp_path / "serve.db") as made:
        state = AdmissionState(made.store.find("shop"), made.store)
    assert state.admission.now == -3.5 and state.applied == len(first)
