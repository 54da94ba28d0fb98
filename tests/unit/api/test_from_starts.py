"""`rebalance`, `collocate` and `plan` from several starts: the same on every engine, and no worker is lost in silence."""

import json
import multiprocessing
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.cli.main import main
from bayplan.errors import UsageError

STEPS = 1_000
VERBS = {"plan": bp.plan, "rebalance": bp.rebalance, "collocate": bp.collocate}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)


@pytest.fixture(scope="module")
def shop() -> bp.Snapshot:
    return cluster_of(machines=12, services=6, replicas=6)


def asked(verb, shop, threads: int = 1, **options):
    return verb(shop, budget=bp.Budget(iterations=STEPS, threads=threads), **options)


@every_verb
def test_the_answer_is_the_same_on_every_engine_and_number_of_workers(verb, shop):
    with bp.engine("pool") as pool:
        here, *others = (
            asked(verb, shop, threads, starts=3, max_moves=8, engine=engine)
            for engine, threads in (("here", 1), ("here", 3), (pool, 2), (pool, 3))
        )
    assert all(np.array_equal(here.placement.machine_of, other.placement.machine_of) for other in others)
    assert {other.notes for other in others} == {here.notes}
    assert 0 < here.moved <= 8
    assert any(note.startswith("from 3 starts") for note in here.notes)


@every_verb
def test_one_start_is_what_it_is_without_the_option(verb, shop):
    alone, one = asked(verb, shop, engine="here"), asked(verb, shop, starts=1, engine="here")
    assert np.array_equal(alone.placement.machine_of, one.placement.machine_of)
    assert not any("starts" in note for note in one.notes)


@pytest.mark.parametrize("method", ["sweep-search", "nls"])
def test_other_methods_that_draw_random_numbers_have_starts(method, shop):
    answer = bp.rebalance(shop, method=method, starts=2, budget=bp.Budget(iterations=50), engine="here")
    assert answer.score["total"] <= answer.before["total"]


@every_verb
@pytest.mark.parametrize("starts", [0, -1, 1.5, True, "2"])
def test_a_number_of_starts_that_makes_no_sense_is_refused(verb, shop, starts):
    with pytest.raises(UsageError, match=r"^starts .*: expected a whole number from 1 to 1,000$"):
        asked(verb, shop, starts=starts)


def test_what_has_one_start_only_says_so(shop):
    with pytest.raises(UsageError, match="starts 2: this method has one start"):
        bp.rebalance(shop, method="greedy", starts=2)
    with pytest.raises(UsageError, match="starts 2: this method has one start"):
        bp.collocate(shop, method="rasa", starts=2)
    with pytest.raises(UsageError, match="solved in 3 parts, each with a walk of its own; expected starts 1, or parts 1"):
        bp.rebalance(shop, starts=2, parts=3)


def killed_at_work(killed: list[int]) -> None:
    """Kill a process of the pool that has begun a job: it has opened what jobs share."""
    until = time.monotonic() + 120.0
    while not killed and time.monotonic() < until:
        for child in multiprocessing.active_children():
            with suppress(OSError):
                if "bayplan-shared-" in Path(f"/proc/{child.pid}/maps").read_text():
                    os.kill(child.pid, signal.SIGKILL)
                    killed.append(child.pid)
                    break
        time.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc here")
def test_a_process_killed_in_the_middle_of_rebalance_is_replaced_and_named(shop, caplog):
    options = {"starts": 3, "max_moves": 8}
    undisturbed = bp.rebalance(shop, budget=bp.Budget(iterations=400_000), engine="here", **options)
    killed: list[int] = []
    thread = Thread(target=killed_at_work, args=(killed,))
    thread.start()
    answer = bp.rebalance(shop, budget=bp.Budget(iterations=400_000, threads=2), engine="pool", **options)
    thread.join()
    assert killed
    assert np.array_equal(answer.placement.machine_of, undisturbed.placement.machine_of)
    words = "was lost: its process died (killed, perhaps for lack of memory); it is repeated elsewhere (attempt 2 of 3)"
    assert any(words in note for note in answer.notes), answer.notes
    assert words in caplog.text


def test_the_command_line_has_starts(shop, tmp_path, capsys):
    file = tmp_path / "shop.yaml"
    bp.write(shop, file)
    assert main(["rebalance", str(file), "--starts", "2", "--seconds", "1", "--engine", "here", "--json", "-q"]) == 0
    assert "from 2 starts: each from the best few of all in turn" in json.loads(capsys.readouterr().out)["notes"]
