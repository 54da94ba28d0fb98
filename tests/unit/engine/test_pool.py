"""Processes of the pool: used again, never left behind, and replaced where one dies."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from tests.builders import engine_jobs

from bayplan.engine import EngineLostError, Job, engine_of
from bayplan.errors import UsageError, WorldError

ROOT = Path(__file__).parents[3]


def test_the_pool_uses_its_processes_again():
    jobs = [Job(name=f"job {n}", call=engine_jobs.my_process) for n in range(4)]
    used = set(engine_of("pool").run(jobs, workers=2))
    assert os.getpid() not in used
    assert len(used) == 2


def test_one_worker_or_one_job_runs_here():
    job = Job(name="job", call=engine_jobs.my_process)
    assert engine_of("pool").run([job], workers=4) == [os.getpid()]
    assert set(engine_of("pool").run([job, job], workers=1)) == {os.getpid()}


def in_a_pool() -> set[int]:
    return set(engine_of("pool").run([Job(name="job", call=engine_jobs.my_process)] * 2, workers=2))


def test_a_process_that_may_not_have_children_runs_all_itself():
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        used = pool.apply(in_a_pool)
    assert len(used) == 1
    assert os.getpid() not in used


def test_a_script_that_is_not_guarded_fails_instead_of_multiplying(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from bayplan.engine import Job, engine_of\n"
        "from tests.builders import engine_jobs\n"
        "engine_of('pool').run([Job(name='job', call=engine_jobs.my_process)] * 2, workers=2)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert run.returncode == 1
    assert "WorldError: a process died before it began a job (exit code 1); a script that calls this needs" in run.stderr


def test_workers_leave_interrupts_to_the_parent():
    jobs = [Job(name=f"job {n}", call=engine_jobs.answers_to_interrupts) for n in range(2)]
    assert engine_of("pool").run(jobs, workers=2) == [False, False]


@pytest.mark.parametrize(
    ("last", "how"),
    [
        (Job(name="part 2", call=engine_jobs.dying, arguments=(int(signal.SIGKILL),)), "killed, perhaps for lack of memory"),
        (Job(name="part 2", call=engine_jobs.dying, arguments=(int(signal.SIGSEGV),)), "signal SIGSEGV"),
        (Job(name="part 2", call=engine_jobs.leaving), "exit code 7"),
    ],
)
def test_a_process_that_dies_is_reported_by_its_job(last, how):
    jobs = [Job(name="part 0", call=engine_jobs.asleep), Job(name="part 1", call=engine_jobs.doubled, arguments=(1,)), last]
    losses = []
    with pytest.raises(EngineLostError, match=f"job 'part 2' was lost 3 times, at last because its process died \\({how}\\)"):
        engine_of("pool").run(jobs, workers=2, lost=losses.append)
    assert [(loss.job, loss.attempt, loss.again) for loss in losses] == [
        ("part 2", 1, True),
        ("part 2", 2, True),
        ("part 2", 3, False),
    ]
    assert not multiprocessing.active_children()


def test_a_job_whose_process_dies_once_is_repeated_and_the_log_names_it(tmp_path, caplog):
    jobs = [Job(name=f"part {n}", call=engine_jobs.dying_once, arguments=(str(tmp_path / "died"), n)) for n in range(4)]
    assert engine_of("pool").run(jobs, workers=2) == [0, 2, 4, 6]
    (line,) = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(
        r"job 'part \d' was lost: its process died \(killed, perhaps for lack of memory\); "
        r"it is repeated elsewhere \(attempt 2 of 3\)",
        line,
    )


def test_in_a_with_block_the_processes_are_kept():
    jobs = [Job(name="job", call=engine_jobs.my_process)] * 2
    with engine_of("pool") as pool:
        first, second = set(pool.run(jobs, workers=2)), set(pool.run(jobs, workers=2))
        assert first == second
    assert not multiprocessing.active_children()


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(
        "from bayplan.engine import Job, engine_of\n"
        "from tests.builders import engine_jobs\n"
        "if __name__ == '__main__':\n"
        f"    job = Job(name='long', call=engine_jobs.asleep_in, arguments=({str(tmp_path)!r},))\n"
        "    engine_of('pool').run([job] * 2, workers=2)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, str(script)], env=environment)
    pids = waited(lambda: [int(file.name) for file in tmp_path.iterdir() if file.name.isdigit()], 2)
    process.kill()
    process.wait()
    waited(lambda: [pid for pid in pids if not Path(f"/proc/{pid}").exists()], 2)


def waited(find, number, seconds=60.0):
    """What is found once there are this many."""
    until = time.monotonic() + seconds
    while len(there := find()) < number:
        assert time.monotonic() < until
        time.sleep(0.05)
    return there


def test_an_error_does_not_wait_for_the_other_jobs():
    jobs = [Job(name="long", call=engine_jobs.asleep), Job(name="bad", call=engine_jobs.refused, arguments=("no",))]
    with pytest.raises(UsageError):
        engine_of("pool").run(jobs, workers=2)
    assert not multiprocessing.active_children()


def test_an_error_that_cannot_travel_is_told():
    jobs = [Job(name="part 7", call=engine_jobs.stubborn)] * 2
    with pytest.raises(WorldError, match="job 'part 7' failed: StubbornError: cannot travel"):
        engine_of("pool").run(jobs, workers=2)


def test_an_interruption_ends_everything_without_a_word_from_the_workers(tmp_path):
    script, there = tmp_path / "interrupted.py", tmp_path / "there"
    there.mkdir()
    script.write_text(
        "import signal\n"
        "from bayplan.engine import Job, engine_of\n"
        "from tests.builders import engine_jobs\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        f"        job = Job(name='long', call=engine_jobs.asleep_in, arguments=({str(there)!r},))\n"
        "        engine_of('pool').run([job] * 3, workers=2)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment
    )
    while len(list(there.iterdir())) < 2 and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted\n"
    assert err == ""
    assert process.returncode == 0


def test_an_interruption_while_a_process_starts_leaves_none_behind(monkeypatch, tmp_path):
    start, started = ForkServerProcess.start, []

    def interrupted_at_the_second(process):
        start(process)
        started.append(process)
        if len(started) == 2:
            raise KeyboardInterrupt  # it runs, and the pool was not told

    monkeypatch.setattr(ForkServerProcess, "start", interrupted_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        engine_of("pool").run([Job(name="long", call=engine_jobs.asleep_in, arguments=(str(tmp_path),))] * 3, workers=2)
    assert [process.is_alive() for process in started] == [False, False]
