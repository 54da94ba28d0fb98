"""The referee of `admit` lists what is taken; its slow twin holds every request, zone and link in one table."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import admissions
from tests.naive.admission_check import violations_of

from bayplan.check import check_admission
from bayplan.generate import GENERATORS
from bayplan.model import Acceptance, ints


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_it_reports_the_same_as_its_slow_twin(data):
    admission = data.draw(admissions(max_requests=6))
    n_z = len(admission.zones.name)
    choice = [
        data.draw(st.none() | st.lists(st.integers(0, n_z), min_size=1, max_size=len(request.members)).map(ints))
        for request in admission.requests
    ]
    acceptance = Acceptance(zone_of=tuple(choice))
    assert check_admission(admission, acceptance) == violations_of(admission, acceptance)


def test_it_reports_the_same_of_an_overcrowded_stream():
    stream = GENERATORS["container-clusters"].make(zones=3, count=60, slots=20, seed=3)
    acceptance = Acceptance(zone_of=tuple(ints([v % 3 for v in range(len(r.members))]) for r in stream.requests))
    listed = check_admission(stream, acceptance)
    assert {violation.rule for violation in listed} == {"request-cap", "capacity", "bandwidth"}
    assert [v.sentence for v in listed] == [v.sentence for v in violations_of(stream, acceptance)]
