"""Errors as answers: numbered, and without anything that is not for the client."""

import asyncio
import json

import pytest

from bayplan.serve.admission.writer import AdmissionWriter
from bayplan.serve.problems import RequestRefusedError, problem_of


def test_an_error_that_was_not_expected_says_nothing_of_the_server():
    answer = problem_of(ValueError("/home/secret"))
    content = json.loads(answer.body)
    assert (answer.status_code, content["faults"][0]["code"]) == (500, "E2716")
    assert b"secret" not in answer.body


def test_a_service_that_ends_takes_no_offer_and_says_when_to_try_again():
    writer = object.__new__(AdmissionWriter)
    writer._is_ending = True
    with pytest.raises(RequestRefusedError, match="E2717") as refused:
        asyncio.run(writer._submitted(None))
    answer = problem_of(refused.value)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
