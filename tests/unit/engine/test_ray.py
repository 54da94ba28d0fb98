"""The engine on Ray and its driver, on a stand-in for Ray; `tests/on_ray` has the real one."""

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.builders import engine_jobs

from bayplan.engine import EngineLostError, Job, Shared, engine_of
from bayplan.engine.ray_task import attempt_on_ray
from bayplan.engine.worker import versions
from bayplan.errors import UsageError, WorldError
from bayplan.version import __version__

FAKE = Path(__file__).parents[2] / "builders" / "fake_ray"


@pytest.fixture
def ray(monkeypatch):
    """The engine, with a stand-in for Ray."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return engine_of("ray")


def doubling(number, name="job"):
    return Job(name=name, call=engine_jobs.doubled, arguments=(number,))


def test_jobs_go_out_and_answers_come_back(ray):
    with ray:
        assert ray.slots(5) == 2
        assert ray.run([doubling(number) for number in range(5)], workers=5) == [0, 2, 4, 6, 8]
        shared = Shared({"a": np.arange(1000.0), "none": np.zeros(0)})
        jobs = [Job(name="sum", call=engine_jobs.summed, arguments=(shared,), options={"more": n}) for n in range(3)]
        assert ray.run(jobs, workers=2) == [499500.0, 499501.0, 499502.0]


def test_the_error_of_a_job_comes_through(ray):
    with pytest.raises(UsageError, match=r"^no such thing$"):
        ray.run([Job(name="bad", call=engine_jobs.refused, arguments=("no such thing",))], workers=2)


def test_a_node_that_dies_is_named_and_its_job_given_up_at_last(ray):
    losses, answers = [], {}
    with pytest.raises(EngineLostError, match=r"job 'dead' was lost 3 times, at last because its node 10\.0\.0\.7 died"):
        answers.update(ray.stream([doubling(1), doubling(2, "dead")], workers=2, lost=losses.append))
    assert [loss.cause for loss in losses] == ["its node 10.0.0.7 died"] * 3


def test_a_driver_that_dies_is_named_by_its_last_words_and_started_again(ray):
    with ray:
        with pytest.raises(EngineLostError, match="engine 'ray' is lost: its driver died: GCS is lost, aborting"):
            ray.run([doubling(1, "abort")], workers=2)
        assert ray.run([doubling(1)], workers=2) == [2]


def test_the_node_of_this_machine_that_dies_leaves_what_came_before(ray):
    answers = []
    with pytest.raises(EngineLostError, match="engine 'ray' is lost: the Ray node of this machine died"):
        for answer in ray.stream([doubling(1), doubling(2, "unplugged")], workers=2):
            answers.append(answer)  # noqa: PERF402 (what came before the error counts)
    assert answers == [(0, 2)]


def test_another_version_is_refused(ray):
    with pytest.raises(WorldError, match=f"has bayplan {__version__} and Python .*; expected bayplan 0.0.9 and Python") as error:
        ray.run([doubling(1, "elsewhere")], workers=2)
    assert "\n" not in str(error.value)
    assert not isinstance(error.value, EngineLostError)


def test_a_worker_without_bayplan_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "bayplan.version", None)
    refusal, data = attempt_on_ray(("1.0", "3.11"), b"", [])
    assert "has no bayplan; expected bayplan 1.0 and Python 3.11, as here: install them there" in refusal
    assert data == b""
    assert versions()[0] == __version__


def test_an_object_store_that_is_full_is_said(ray):
    large = Shared({"a": np.zeros(2 * 10**6)})
    with pytest.raises(WorldError, match="engine 'ray': its object store is full"):
        ray.run([Job(name="sum", call=engine_jobs.summed, arguments=(large,))], workers=2)


def test_what_ray_says_when_it_does_not_start_is_one_line(ray):
    with pytest.raises(
        WorldError, match=r"^engine 'ray': it does not start: Version mismatch: The cluster was started with: Ray: 1.0$"
    ):
        ray.run([doubling(1)], workers=13)


def test_without_ray_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'bayplan\[ray\]'"):
        engine_of("ray").run([doubling(1)], workers=2)
