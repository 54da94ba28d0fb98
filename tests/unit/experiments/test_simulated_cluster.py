"""The simulated Ray cluster: what must hold whatever the numbers are."""

import pytest
from experiments.scale.simulated_cluster import Outcome, RayModel, Work, simulate

IDEAL = RayModel(workers=1, dispatch_seconds=0.0, receive_seconds=0.0, bandwidth=1e9)
UNSTABLE = RayModel(
    workers=20,
    dispatch_seconds=0.01,
    receive_seconds=0.01,
    bandwidth=1e8,
    mean_seconds_between_failures=100.0,
    seconds_to_notice=5.0,
    seconds_to_restart=20.0,
)


def work(jobs: int, seconds: float = 10.0, **other: float) -> Work:
    return Work(job_seconds=[seconds] * jobs, **{"shared_bytes": 0.0, "input_bytes": 0.0, "output_bytes": 0.0, **other})


def test_one_worker_takes_the_sum_of_the_jobs() -> None:
    assert simulate(work(7), IDEAL, seed=0) == Outcome(70.0, 1.0, 0.0, lost=0, messages=14, network_bytes=0.0)


def test_jobs_of_equal_length_are_divided_evenly() -> None:
    model = RayModel(workers=4, dispatch_seconds=0.0, receive_seconds=0.0, bandwidth=1e9)
    assert simulate(work(8), model, seed=0).seconds == 20.0
    assert simulate(work(9), model, seed=0).seconds == 30.0


def test_the_driver_sends_one_job_after_the_other() -> None:
    model = RayModel(workers=1_000, dispatch_seconds=0.1, receive_seconds=0.0, bandwidth=1e9)
    outcome = simulate(work(1_000, seconds=1.0), model, seed=0)
    assert outcome.seconds == pytest.approx(100.0 + 1.0)
    assert outcome.driver_busy > 0.98


def test_copies_of_the_shared_input_double() -> None:
    model = RayModel(workers=7, dispatch_seconds=0.0, receive_seconds=0.0, bandwidth=1e6)
    outcome = simulate(work(7, shared_bytes=1e6), model, seed=0)
    assert outcome.seconds == pytest.approx(1.0 + 3.0 + 10.0)  # written; 1, 2 and 4 copies at a time; the jobs
    assert outcome.network_bytes == 7e6


def test_every_lost_job_is_sent_again() -> None:
    outcome = simulate(work(200), UNSTABLE, seed=1)
    assert outcome.lost > 0
    assert outcome.messages == 2 * 200 + 2 * outcome.lost  # a notice and a second sending for each
    assert outcome.worker_busy == pytest.approx(200 * 10.0 / (outcome.seconds * 20))


def test_failures_and_stragglers_cost_time() -> None:
    calm = RayModel(workers=20, dispatch_seconds=0.01, receive_seconds=0.01, bandwidth=1e8)
    slow = RayModel(
        workers=20, dispatch_seconds=0.01, receive_seconds=0.01, bandwidth=1e8, straggler_share=0.1, straggler_factor=4.0
    )
    seconds = [simulate(work(200), model, seed=1).seconds for model in (calm, slow, UNSTABLE)]
    assert seconds[0] < min(seconds[1:])


def test_the_same_seed_gives_the_same_run() -> None:
    assert simulate(work(50), UNSTABLE, seed=3) == simulate(work(50), UNSTABLE, seed=3)
    assert simulate(work(50), UNSTABLE, seed=3) != simulate(work(50), UNSTABLE, seed=4)


def test_the_driver_makes_one_job_after_the_other() -> None:
    model = RayModel(workers=10, dispatch_seconds=0.0, receive_seconds=0.0, bandwidth=1e9)
    assert simulate(work(10, make_seconds=2.0), model, seed=0).seconds == pytest.approx(10 * 2.0 + 10.0)
