"""A stated confidence becomes rules and deviates of a problem."""

import numpy as np
import pytest
from tests.builders.packings import uncertain

from bayplan.decide.pack.instance import UsageModel, pack_instance
from bayplan.errors import UsageError
from bayplan.model import Confidence, Snapshot
from bayplan.score.confidence import deviate, machine_ucac
from bayplan.score.packing import strictest_ucac

GAUSSIAN = UsageModel()


def alphas(snapshot: Snapshot) -> dict[int, float]:
    return {rule.resource: rule.alpha for rule in snapshot.cluster.rules if isinstance(rule, Confidence)}


@pytest.mark.parametrize(
    ("rules", "stated", "expected", "main"),
    [
        ((), {"confidence": 0.9}, {0: 0.9}, 0),
        ((), {"confidence": 0.9, "resource": "memory"}, {1: 0.9}, 1),
        ((Confidence(resource=1, alpha=0.95),), {}, {1: 0.95}, 1),
        ((Confidence(resource=1, alpha=0.95),), {"confidence": 0.99}, {1: 0.99}, 1),
        ((Confidence(resource=1, alpha=0.95),), {"resource": "cpu"}, {1: 0.95, 0: 0.95}, 0),
        (
            (Confidence(resource=1, alpha=0.95), Confidence(resource=0, alpha=0.9)),
            {"resource": "cpu"},
            {1: 0.95, 0: 0.9},
            0,
        ),
    ],
)
def test_confidence_replaces_that_of_the_rules_or_adds_one(rules, stated, expected, main):
    instance = pack_instance(uncertain(*rules), usage=GAUSSIAN, **stated)
    assert alphas(instance.snapshot) == expected
    assert instance.problem.main.resource == main and instance.alpha == expected[main]


def test_the_strictest_workload_of_a_machine_counts():
    snapshot = uncertain()
    instance = pack_instance(snapshot, confidence=0.9, alpha_of=np.array([0, 0, 0, 0, 0.999]), usage=GAUSSIAN)
    loose, strict = (machine_ucac(snapshot.cluster, snapshot.placement, 0, alpha=alpha) for alpha in (0.9, 0.999))
    on = np.unique(snapshot.placement.machine_of[-6:][snapshot.placement.machine_of[-6:] >= 0])
    mine = strictest_ucac(snapshot.cluster, snapshot.placement, instance.problem.main)
    assert mine[on] == pytest.approx(strict[on])
    others = np.setdiff1d(np.arange(6), on)
    assert mine[others] == pytest.approx(loose[others])


def test_the_same_instance_at_another_confidence():
    instance = pack_instance(uncertain(), confidence=0.9, usage=GAUSSIAN).at(0.999)
    assert instance.alpha == 0.999 and instance.problem.main.deviate == pytest.approx([deviate(0.999)] * 5)


def test_an_instance_without_a_confidence_is_refused():
    with pytest.raises(UsageError, match="no confidence is stated"):
        pack_instance(uncertain(), usage=GAUSSIAN)
