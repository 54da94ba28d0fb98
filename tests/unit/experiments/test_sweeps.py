"""Sweeps: the same file on any engine, resumed where they stopped, and nothing that came is lost."""

import argparse
import os
import pickle
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from experiments.results import rows
from experiments.sweeps import AnswersInOrder, Measured, Runs, add_engine_options, arguments_of, runs_of, sweep
from tests.builders import sweep_cells
from tests.builders.ray_cluster import ROOT, waited
from tests.builders.sweep_cells import KEY, Cell

from bayplan.engine import engine_of
from bayplan.engine.worker import attempt
from bayplan.errors import WorldError

STOPS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}


def some(number, **fields):
    """The first cells take longest, so that the last ones come first."""
    return [Cell(name="a", seed=seed, seconds=0.3 if seed < 2 else 0.0, **fields) for seed in range(number)]


def without_process(path):
    return [{name: value for name, value in row.items() if name != "process"} for row in rows(path)]


@pytest.mark.parametrize(("engine", "workers"), [("here", 1), ("pool", 1), ("pool", 2), ("pool", 3)])
def test_the_file_is_the_same_on_any_engine(tmp_path, engine, workers):
    path = tmp_path / "cells.csv"
    sweep(path, KEY, some(7), sweep_cells.measured, Runs(engine=engine_of(engine), workers=workers))
    assert [(row["seed"], row["square"]) for row in rows(path)] == [(str(seed), str(seed**2)) for seed in range(7)]
    assert path.read_text().startswith("name,seed,square,process,commit,machine\n")
    assert len({row["process"] for row in rows(path)}) == workers
    assert (str(os.getpid()) in {row["process"] for row in rows(path)}) == (workers == 1)


@pytest.mark.parametrize("engine", ["here", "pool"])
def test_a_cell_may_have_several_rows(tmp_path, engine):
    path = tmp_path / "cells.csv"
    fields = ("part", *KEY, "square", "commit", "machine")
    sweep(path, KEY, some(3), sweep_cells.several, Runs(engine=engine_of(engine), workers=2), fields=fields)
    assert [(row["part"], row["seed"]) for row in rows(path)] == [(part, seed) for seed in "012" for part in "01"]
    assert path.read_text().startswith("part,name,seed,square,commit,machine\n")


def test_only_what_is_missing_is_measured(tmp_path):
    path, marks = tmp_path / "cells.csv", tmp_path / "marks"
    marks.mkdir()
    cells = some(6, marks=str(marks))
    sweep(path, KEY, cells[1:4], sweep_cells.measured)
    sweep(path, KEY, cells, sweep_cells.measured, Runs(engine=engine_of("pool"), workers=2))
    assert sorted(row["seed"] for row in rows(path)) == list("012345")
    assert sorted(mark.name[0] for mark in marks.iterdir()) == list("012345")


@pytest.mark.long
@pytest.mark.parametrize(("engine", "workers"), [("here", 1), ("pool", 1), ("pool", 2)])
def test_no_cell_begins_after_the_deadline_and_those_that_run_end(tmp_path, capsys, engine, workers):
    path, cells = tmp_path / "cells.csv", [Cell(name="a", seed=seed, seconds=1.5) for seed in range(40)]
    with engine_of(engine) as on:
        if workers > 1:
            sweep(tmp_path / "first.csv", KEY, cells[:1] + some(3), nothing_to_do, Runs(engine=on, workers=workers))
        began = time.monotonic()
        until = datetime.now() + timedelta(seconds=2)
        sweep(path, KEY, cells, sweep_cells.measured, Runs(engine=on, workers=workers, until=until))
    measured = rows(path)
    assert workers <= len(measured) <= 3 * workers
    assert [row["seed"] for row in measured] == [str(seed) for seed in range(len(measured))]
    assert time.monotonic() - began < 20
    assert f"{40 - len(measured)} cells left for another run" in capsys.readouterr().err


def nothing_to_do(cell):
    return {"square": "0"}


def test_a_lost_worker_is_named_and_its_cell_is_measured_again(tmp_path, caplog):
    path, marks = tmp_path / "cells.csv", tmp_path / "marks"
    marks.mkdir()
    sweep(path, KEY, some(5, marks=str(marks)), sweep_cells.dying_once, Runs(engine=engine_of("pool"), workers=2))
    assert [row["square"] for row in rows(path)] == ["0", "1", "4", "9", "16"]
    assert any("job 'a 2' was lost: its process died" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(("engine", "kept"), [("here", []), ("pool", ["1", "2", "3"])])
def test_a_cell_that_cannot_be_measured_ends_the_sweep_with_its_sentence_and_what_came_is_kept(tmp_path, capsys, engine, kept):
    path, cells = tmp_path / "cells.csv", [Cell(name="a", seed=seed, seconds=3.0) for seed in range(4)]
    with pytest.raises(SystemExit, match="cell 0: no such data"):
        sweep(path, KEY, cells, sweep_cells.refusing, Runs(engine=engine_of(engine), workers=2))
    assert [row["seed"] for row in rows(path)] == kept
    assert f"{4 - len(kept)} cells left for another run" in capsys.readouterr().err


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_keeps_the_rows_that_came_and_ends_the_workers(tmp_path, stop):
    path, marks = tmp_path / "cells.csv", tmp_path / "marks"
    marks.mkdir()
    words = [sys.executable, "-m", "tests.builders.sweep_cells", str(path), "pool", str(marks)]
    process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True)
    waited(lambda: len(list(marks.iterdir())) >= 6, seconds=120.0)  # 1, 2 and 3 have come, 0, 4 and 5 run
    assert rows(path) == []
    process.send_signal(STOPS[stop])
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert [row["seed"] for row in rows(path)] == ["1", "2", "3"]
    assert b"6 cells left for another run" in err
    workers = {int(row["process"]) for row in rows(path)}
    waited(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), seconds=10.0)


def test_answers_are_kept_in_order_and_each_once():
    kept = []
    answers = AnswersInOrder("abcd", lambda cell, new: kept.append((cell, new.value)))
    steps = []
    for number in (2, 0, 3):
        answers.add(number, Measured(number, {}))
        steps.append(list(kept))
    assert steps == [[], [("a", 0)], [("a", 0)]]
    answers.keep_rest()
    answers.keep_rest()
    assert kept == [("a", 0), ("c", 2), ("d", 3)]
    assert answers.came == 3


def test_a_worker_without_the_clone_says_so():
    packed = b"cexperimentz.sweeps\nmeasured\n."  # a function of a module that is not there
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(packed)
    error = pickle.loads(attempt(packed, lambda key: ())).error
    assert isinstance(error, WorldError)
    assert "has no module 'experimentz'; expected the modules of this process there" in str(error)
    assert "PYTHONPATH" in str(error)


def test_a_sweep_whose_workers_lack_the_clone_ends_with_one_sentence(tmp_path):
    with pytest.raises(
        SystemExit, match=r"^the worker on '.*' \(.*\) has no module 'clone_of_mine'; expected the modules of this"
    ):
        sweep(tmp_path / "cells.csv", KEY, some(3), sweep_cells.only_here(), Runs(engine=engine_of("pool"), workers=2))
    assert not (tmp_path / "cells.csv").exists()


def options(*words):
    parser = argparse.ArgumentParser()
    add_engine_options(parser)
    return parser.parse_args(words)


def test_the_default_is_this_process():
    assert runs_of(options()).engine.name == "here"


def test_a_pool_has_as_many_workers_as_cores_unless_told():
    assert runs_of(options("--engine", "pool")).workers == len(os.sched_getaffinity(0))
    assert runs_of(options("--engine", "pool", "--threads", "3")).workers == 3
    assert runs_of(options("--workers", "2")).workers == 2


@pytest.mark.parametrize(("words", "fault"), [(("--engine", "poool"), "engine 'poool'"), (("--threads", "0"), "--threads 0")])
def test_options_that_make_no_sense_end_with_a_sentence(words, fault):
    with pytest.raises(SystemExit, match=fault):
        runs_of(options(*words))


def test_help_says_which_seconds_are_comparable(capsys):
    with pytest.raises(SystemExit):
        arguments_of("about", ("a",), Path(), ["--help"], parallel=True)
    text = " ".join(capsys.readouterr().out.split())
    assert "not comparable" in text
    assert "seconds of the CPU" in text
