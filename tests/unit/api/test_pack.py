"""Confidences by name become deviates of a problem."""

import pytest
from tests.builders.packings import uncertain

from bayplan.api.pack import instance_of
from bayplan.decide.pack.instance import UsageModel
from bayplan.score.confidence import deviate


def test_a_pattern_of_names_states_a_higher_confidence():
    names = {"work-[12]": 0.99, "svc-3": 0.999}
    instance = instance_of(uncertain(), confidence=0.9, confidence_of=names, resource=None, usage=UsageModel())
    expected = [deviate(alpha) for alpha in (0.9, 0.99, 0.99, 0.999, 0.9)]
    assert instance.problem.main.deviate == pytest.approx(expected)
