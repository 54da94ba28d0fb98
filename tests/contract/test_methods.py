"""Every method of every verb keeps the claims that are offered to authors of new ones; so does one that a caller registers."""

import pytest

import bayplan as bp
from bayplan.api import registry
from bayplan.api.contract import CLAIMS, keeps
from bayplan.api.registry import REGISTRIES

CASES = [(verb, method, claim) for verb in CLAIMS for method in bp.methods(verb) for claim in CLAIMS[verb]]


def test_every_verb_has_claims():
    assert CLAIMS.keys() == REGISTRIES.keys()


@pytest.mark.parametrize(("verb", "method", "claim"), CASES, ids=[" ".join(case) for case in CASES])
def test_keeps_its_claims(verb, method, claim):
    keeps(verb, method, claim)


def test_a_registered_method_that_breaks_a_claim_is_caught(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})

    @bp.register("rebalance", "everything-on-the-first-machine")
    def everything(problem, options, *, budget, seed, progress):
        from dataclasses import replace

        import numpy as np

        from bayplan.search.answer import answer

        return replace(answer(problem, problem.start), solution=bp.Placement(machine_of=np.zeros(len(problem.start.machine_of))))

    with pytest.raises(AssertionError):
        keeps("rebalance", "everything-on-the-first-machine", "keeps the cap on moves")
    with pytest.raises(AssertionError, match="is violated by"):
        keeps("rebalance", "everything-on-the-first-machine", "violates no rule more than the start")
