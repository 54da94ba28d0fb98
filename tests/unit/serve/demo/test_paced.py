"""A paced cluster passes the same time as a simulated one, and a person waits for it."""

import math

import pytest

import bayplan as bp
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.serve.demo.paced import SLICE, PacedOrchestrator


@pytest.fixture
def slept():
    return []


def paced(slept, pace, looked=lambda: None):
    return PacedOrchestrator(SimulatedOrchestrator(bp.generate("boutique")), lambda: pace, looked, slept.append)


def test_a_person_waits_as_long_as_the_pace_says(slept):
    cluster = paced(slept, 60.0)
    start = cluster.now()
    cluster.wait(600.0)
    assert cluster.now() - start == pytest.approx(600.0)
    assert sum(slept) == pytest.approx(10.0)
    assert max(slept) <= SLICE + 1e-9


def test_without_a_pace_no_person_waits(slept):
    cluster = paced(slept, math.inf)
    cluster.wait(3600.0)
    assert slept == []


def test_it_is_looked_at_after_every_slice(slept):
    looks = []
    cluster = paced(slept, 60.0, lambda: looks.append(1))
    cluster.wait(60.0)
    assert len(looks) == len(slept) == 10


def test_the_cluster_is_the_simulated_one(slept):
    assert len(paced(slept, 60.0).observe().containers) == 77
