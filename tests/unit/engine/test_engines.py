"""Jobs give the same answers wherever they run, and nothing hangs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
import types
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from tests.builders import engine_jobs

from bayplan.engine import ENGINES, Job
from bayplan.errors import UsageError, WorldError

ROOT = Path(__file__).parents[3]


class FakeRay(types.ModuleType):
    """As much of Ray as the engine uses, in this process."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.started: list[int] = []
        self.exceptions = types.SimpleNamespace(RayError=type("RayError", (Exception,), {}))
        self.exceptions.RayTaskError = type("RayTaskError", (self.exceptions.RayError,), {})

    def is_initialized(self) -> bool:
        return bool(self.started)

    def init(self, *, num_cpus: int, **_: object) -> None:
        self.started.append(num_cpus)

    def remote(self, **_: object):
        return lambda call: types.SimpleNamespace(remote=lambda job: (call, job))

    def get(self, sent):
        call, job = sent
        if job.name == "dead":
            raise self.exceptions.RayError("a node is gone")
        try:
            return call(job)
        except Exception as error:
            wrapped = self.exceptions.RayTaskError("remote traceback")
            wrapped.cause = error
            raise wrapped from error

    def cancel(self, sent, *, force: bool) -> None:
        pass


@pytest.fixture
def fake_ray(monkeypatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    return fake


every_engine = pytest.mark.parametrize("name", ENGINES)


@every_engine
@pytest.mark.usefixtures("fake_ray")
def test_answers_come_in_the_order_of_the_jobs(name):
    jobs = [
        Job(name=f"job {n}", call=engine_jobs.doubled, arguments=(n,), options={"after": 0.2 if n == 0 else 0.0})
        for n in range(5)
    ]
    assert ENGINES[name].run(jobs, workers=2) == [0, 2, 4, 6, 8]


@every_engine
@pytest.mark.usefixtures("fake_ray")
def test_no_jobs_give_no_answers(name):
    assert ENGINES[name].run([], workers=2) == []


@every_engine
@pytest.mark.usefixtures("fake_ray")
def test_the_error_of_a_job_comes_through_unchanged(name):
    jobs = [
        Job(name="fine", call=engine_jobs.doubled, arguments=(1,)),
        Job(name="bad", call=engine_jobs.refused, arguments=("no such thing",)),
    ]
    with pytest.raises(UsageError, match=r"^no such thing$"):
        ENGINES[name].run(jobs, workers=2)


def test_the_pool_uses_its_processes_again():
    jobs = [Job(name=f"job {n}", call=engine_jobs.my_process) for n in range(4)]
    used = set(ENGINES["pool"].run(jobs, workers=2))
    assert os.getpid() not in used
    assert len(used) == 2


def test_one_worker_or_one_job_runs_here():
    job = Job(name="job", call=engine_jobs.my_process)
    assert ENGINES["pool"].run([job], workers=4) == [os.getpid()]
    assert set(ENGINES["pool"].run([job, job], workers=1)) == {os.getpid()}


def in_a_pool() -> set[int]:
    return set(ENGINES["pool"].run([Job(name="job", call=engine_jobs.my_process)] * 2, workers=2))


def test_a_process_that_may_not_have_children_runs_all_itself():
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        used = pool.apply(in_a_pool)
    assert len(used) == 1
    assert os.getpid() not in used


def test_a_script_that_is_not_guarded_fails_instead_of_multiplying(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from bayplan.engine import ENGINES, Job\n"
        "from tests.builders import engine_jobs\n"
        "ENGINES['pool'].run([Job(name='job', call=engine_jobs.my_process)] * 2, workers=2)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert run.returncode == 1
    assert "WorldError: a process died before it began a job (exit code 1); a script that calls this needs" in run.stderr


def test_workers_leave_interrupts_to_the_parent():
    jobs = [Job(name=f"job {n}", call=engine_jobs.answers_to_interrupts) for n in range(2)]
    assert ENGINES["pool"].run(jobs, workers=2) == [False, False]


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
    with pytest.raises(WorldError, match=f"job 'part 2' died \\({how}\\)"):
        ENGINES["pool"].run(jobs, workers=2)
    assert not multiprocessing.active_children()


def test_an_error_does_not_wait_for_the_other_jobs():
    jobs = [Job(name="long", call=engine_jobs.asleep), Job(name="bad", call=engine_jobs.refused, arguments=("no",))]
    with pytest.raises(UsageError):
        ENGINES["pool"].run(jobs, workers=2)
    assert not multiprocessing.active_children()


def test_an_error_that_cannot_travel_is_told():
    jobs = [Job(name="part 7", call=engine_jobs.stubborn)] * 2
    with pytest.raises(WorldError, match="job 'part 7' failed: StubbornError: cannot travel"):
        ENGINES["pool"].run(jobs, workers=2)


def test_an_interruption_ends_everything_without_a_word_from_the_workers(tmp_path):
    script, there = tmp_path / "interrupted.py", tmp_path / "there"
    there.mkdir()
    script.write_text(
        "import signal\n"
        "from bayplan.engine import ENGINES, Job\n"
        "from tests.builders import engine_jobs\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        f"        job = Job(name='long', call=engine_jobs.asleep_in, arguments=({str(there)!r},))\n"
        "        ENGINES['pool'].run([job] * 3, workers=2)\n"
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
        ENGINES["pool"].run([Job(name="long", call=engine_jobs.asleep_in, arguments=(str(tmp_path),))] * 3, workers=2)
    assert [process.is_alive() for process in started] == [False, False]


def test_ray_is_started_once_with_the_workers(fake_ray):
    jobs = [Job(name="job", call=engine_jobs.doubled, arguments=(1,))]
    ENGINES["ray"].run(jobs, workers=3)
    ENGINES["ray"].run(jobs, workers=4)
    assert fake_ray.started == [3]


@pytest.mark.usefixtures("fake_ray")
def test_ray_says_which_job_is_lost():
    with pytest.raises(WorldError, match="job 'dead' died: a node is gone"):
        ENGINES["ray"].run([Job(name="dead", call=engine_jobs.doubled, arguments=(1,))], workers=2)


def test_without_ray_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'bayplan\[ray\]'"):
        ENGINES["ray"].run([Job(name="job", call=engine_jobs.doubled, arguments=(1,))], workers=2)


def test_real_ray_runs_jobs():
    ray = pytest.importorskip("ray")
    jobs = [Job(name=f"job {n}", call=engine_jobs.doubled, arguments=(n,)) for n in range(3)]
    assert ENGINES["ray"].run(jobs, workers=2) == [0, 2, 4]
    ray.shutdown()
