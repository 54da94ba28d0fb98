"""Requests drawn from the OpenAPI document of the service: none fails it, and every answer is as the document says.

Ten thousand of them are drawn by hand: `tests/stress/serve_schemathesis.py`.
"""

import pytest
from tests.stress.serve_schemathesis import Passed, one_pass, shown


@pytest.mark.long
def test_drawn_requests_never_fail_the_service_and_get_answers_as_documented():
    pytest.importorskip("schemathesis")
    total = Passed()
    one_pass(seed=7, examples=2, phases="examples,fuzzing,stateful", total=total)
    assert total.requests > 100
    assert not total.failed and not total.errors and not total.statuses["5xx"], shown(total)
    assert not total.died, shown(total)
