"""Sweeps over numbers of machines on engines: the same points anywhere, in time, and nothing that came is lost."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from tests.builders import odd_schedulers
from tests.builders.ray_cluster import ROOT, waited

import bayplan as bp
from bayplan.api.requests import sweep as module
from bayplan.api.requests.sweep import sweep_machines
from bayplan.engine import EngineLostError
from bayplan.model import Budget
from bayplan.model.interrupt import stoppable

NUMBERS = [1, 8, 4, 2, 3]


@pytest.fixture(scope="module")
def day():
    return bp.generate("requests", n=300, machines=4, load=2.0, seed=1)


@pytest.fixture
def marks(tmp_path):
    """The folder of the marks that odd schedulers leave."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def by_method(marks, monkeypatch):
    """Lets sweeps take an odd scheduler."""

    def take(method):
        monkeypatch.setattr(module, "method_of", lambda verb, name: partial(method, marks=str(marks)))

    return take


def points(answer):
    return [replace(point, seconds=0.0) for point in answer.points]


@pytest.mark.parametrize("method", ["cradle+", "local", "online"])
def test_the_same_iterations_give_the_same_points_on_any_engine(day, method):
    budget = Budget(iterations=200)
    answers = [
        sweep_machines(day, NUMBERS, method=method, serve=0.5, budget=budget, engine=engine, threads=threads)
        for engine, threads in (("here", 1), ("pool", 2), ("pool", 3))
    ]
    assert [points(answer) for answer in answers] == [points(answers[0])] * 3
    assert [answer.fewest for answer in answers] == [answers[0].fewest] * 3
    assert {point.machines for point in answers[0].points} >= set(NUMBERS)
    assert all(answer.complete and not answer.result.notes for answer in answers)


def test_progress_is_told_and_a_checkpoint_is_written_after_every_point(day, tmp_path):
    ticks, file = [], tmp_path / "points.json"

    def tell(tick):
        ticks.append((tick.done, len(json.loads(file.read_text())["sweep"]) if file.exists() else 0))

    sweep_machines(day, NUMBERS, budget=Budget(), engine="pool", threads=2, progress=tell, checkpoint=file)
    told = ticks[-5:]
    assert [done for done, _ in told] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert [number for _, number in told] == [0, 1, 2, 3, 4]  # the file is written after the tick
    assert len(json.loads(file.read_text())["sweep"]) == 5


def test_a_lost_worker_is_noted_and_its_point_comes_all_the_same(day, by_method, caplog):
    by_method(odd_schedulers.dying_once)
    answer = sweep_machines(day, NUMBERS, budget=Budget(), engine="pool", threads=2)
    assert points(answer) == points(sweep_machines(day, NUMBERS, budget=Budget(), engine="here"))
    (note,) = answer.result.notes
    assert note.startswith("engine: job '2 machines' was lost: its process died")
    assert "attempt 2 of 3" in note
    assert any("job '2 machines' was lost" in record.getMessage() for record in caplog.records)


def test_an_engine_that_is_lost_leaves_the_points_that_came(day, by_method):
    by_method(odd_schedulers.dying_always)
    answer = sweep_machines(day, [1, 2, 3], budget=Budget(), engine="pool", threads=2)
    assert [point.machines for point in answer.points] == [1, 3]
    assert (answer.not_tried, answer.complete) == (1, False)
    assert "job '2 machines' was lost 3 times" in answer.result.notes[-1]


def test_an_engine_that_is_lost_before_anything_came_is_an_error(day):
    with pytest.raises(EngineLostError, match="job '2 machines' was lost 3 times"):
        sweep_machines(day, [2, 1], budget=Budget(), engine=LosingEngine(), threads=2)


class LosingEngine:
    """An engine that loses its first job."""

    name = "odd"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def slots(self, workers):
        return 2

    def stream(self, jobs, **more):
        raise EngineLostError(f"job '{next(iter(jobs)).name}' was lost 3 times")
        yield


@pytest.mark.long
def test_after_the_deadline_the_points_that_came_are_the_answer(day, by_method):
    by_method(odd_schedulers.slow_on_many)
    sweep_machines(day, [1, 2], seconds=30, engine="here")  # kernels are loaded
    answer = sweep_machines(day, [1, 2, 3, 4, 5, 6], seconds=6.0, engine="pool", threads=2, bound=False)
    assert {point.machines for point in answer.points} <= {1, 2, 3}
    assert answer.points
    assert answer.not_tried == 6 - len(answer.points)
    assert not answer.complete
    assert answer.seconds < 20


def test_no_time_at_all_gives_one_point_all_the_same(day):
    answer = sweep_machines(day, NUMBERS, seconds=0.0, engine="pool", threads=2, bound=False)
    assert len(answer.points) >= 1
    assert answer.not_tried == len(NUMBERS) - len(answer.points)


@pytest.mark.parametrize(("threads", "each"), [(1, 60 / 4), (2, 60 / 2)])
def test_points_share_the_time_by_slots(day, by_method, marks, threads, each):
    by_method(odd_schedulers.noting)
    sweep_machines(day, [1, 2, 3, 4], seconds=60.0, engine="pool", threads=threads, bound=False)
    assert float((marks / "1").read_text()) == pytest.approx(each, rel=0.15)


def test_a_stop_keeps_the_points_that_came(day):
    with stoppable() as stop:

        def tell(tick):
            stop.requested = tick.done >= 0.4

        answer = sweep_machines(day, NUMBERS, budget=Budget(), engine="pool", threads=2, progress=tell)
    assert answer.interrupted and not answer.complete
    assert 2 <= len(answer.points) < 5
    assert answer.not_tried == 5 - len(answer.points)


@pytest.mark.long
def test_ctrl_c_on_the_command_line_names_what_is_missing(day, tmp_path):
    file, out = tmp_path / "day.json", tmp_path / "points.json"
    bp.write(day, file)
    words = ["schedule", str(file), "--sweep", "1:12", "--method", "local", "--seconds", "30", "--no-bound"]
    words += ["--engine", "pool", "--threads", "2", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bayplan", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    waited(out.exists, seconds=120.0)
    os.killpg(process.pid, signal.SIGINT)
    printed, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"interrupted: this is the best so far" in err
    assert b"numbers of machines not tried" in err
    assert printed
    assert 1 <= len(json.loads(out.read_text())["sweep"]) < 12


def test_an_engine_that_is_none_is_a_usage_fault(day):
    with pytest.raises(bp.UsageError, match="engine 'poool'"):
        sweep_machines(day, [1], engine="poool")
