"""What makes no sense is a numbered error, and changes nothing."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.builders.clusters_offered import request_of, zones_of

from bayplan.decide.admit import ADMITTERS, Admission, AdmitOptions
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.parameters import LIVE
from bayplan.errors import InputError
from bayplan.model import Budget, ClusterRequest, ClusterRequests, silent


def duck(**fields):
    """Something that looks like a request."""
    good = request_of("new", 5, 7, demand=[[1], [2]], traffic=[[0, 1.0], [0, 0]])
    names = ("name", "members", "demand", "traffic", "arrival", "start", "end", "value")
    return SimpleNamespace(**{**{name: getattr(good, name) for name in names}, **fields})


def forced(**fields):
    """A real request whose guard was passed by."""
    request = request_of("new", 5, 7, demand=[[1], [2]], traffic=[[0, 1.0], [0, 0]])
    for name, value in fields.items():
        object.__setattr__(request, name, value)
    return request


@pytest.fixture(params=LIVE)
def admission(request):
    """It is 5, 'old' runs until 9, the last offer arrived at 4."""
    made = Admission(zones_of([[10], [6]]), AdmitOptions(one_shot="greedy"), request.param)
    made.offer(request_of("old", 4, 9, demand=[[3], [2]], traffic=[[0, 1.0], [2.0, 0]]))
    made.advance(5)
    return made


BAD = {
    "name is no text": ({"name": 7}, "E1101"),
    "name is a list": ({"name": ["new"]}, "E1101"),
    "members are one text": ({"members": "ab"}, "E1101"),
    "members are no texts": ({"members": (1, 2)}, "E1101"),
    "a member twice": ({"members": ("a", "a")}, "E1512"),
    "arrives in the past": ({"arrival": 4.5}, "E2001"),
    "starts before it arrives": ({"arrival": 6.5, "start": 6.0}, "E2001"),
    "out of order": ({"arrival": 3.0}, "E2002"),
    "zero length": ({"start": 6.0, "end": 6.0}, "E2003"),
    "ends before it starts": ({"end": 4.0}, "E2003"),
    "no members": ({"members": (), "demand": np.zeros((0, 1), dtype=np.int64), "traffic": np.zeros((0, 0))}, "E2004"),
    "fits nowhere": ({"demand": np.array([[11], [1]])}, "E2005"),
    "value beyond all measure": ({"value": 1e300}, "E2016"),
    "negative value": ({"value": -1.0}, "E2006"),
    "negative demand": ({"demand": np.array([[-1], [1]])}, "E2006"),
    "negative traffic": ({"traffic": np.array([[0, -1.0], [0, 0]])}, "E2006"),
    "value not a number": ({"value": math.nan}, "E2007"),
    "infinite value": ({"value": math.inf}, "E2007"),
    "traffic not a number": ({"traffic": np.array([[0, math.nan], [0, 0]])}, "E2007"),
    "infinite traffic": ({"traffic": np.array([[0, math.inf], [0, 0]])}, "E2007"),
    "end not a number": ({"end": math.nan}, "E2007"),
    "infinite end": ({"end": math.inf}, "E2007"),
    "arrival not a number": ({"arrival": math.nan}, "E2007"),
    "two resources": ({"demand": np.array([[1, 1], [1, 1]])}, "E2008"),
    "one member too few": ({"demand": np.array([[1]])}, "E2008"),
    "traffic not square": ({"traffic": np.zeros((2, 3))}, "E2008"),
    "name in use": ({"name": "old"}, "E2009"),
    "too far ahead": ({"end": 1e15}, "E2012"),
    "beyond all slots": ({"start": 1e300, "end": 2e300}, "E2012"),
    "talks to itself": ({"traffic": np.array([[1.0, 0], [0, 0]])}, "E1510"),
}
ONLY_DUCKS = {
    "arrival is a text": ({"arrival": "5"}, "E2007"),
    "value is a text": ({"value": "5"}, "E2007"),
    "demand not whole": ({"demand": [[0.5], [1]]}, "E2007"),
    "demand not a number": ({"demand": [[math.nan], [1]]}, "E2007"),
    "demand is text": ({"demand": [["x"], ["y"]]}, "E2007"),
    "demand is ragged": ({"demand": [[1], [1, 2]]}, "E2007"),
    "traffic is text": ({"traffic": "none"}, "E2007"),
    "value is text": ({"value": "much"}, "E2007"),
    "members are a number": ({"members": 3}, "E1101"),
    "demand beyond int64": ({"demand": [[2**70], [1]]}, "E2007"),
}
CASES = [
    *(pytest.param(make, *case, id=f"{name}, {make.__name__}") for name, case in BAD.items() for make in (duck, forced)),
    *(pytest.param(duck, *case, id=name) for name, case in ONLY_DUCKS.items()),
]


@pytest.mark.parametrize(("make", "fields", "code"), CASES)
def test_a_bad_offer_has_its_number_and_changes_nothing(admission, make, fields, code):
    before = copy.deepcopy(admission.snapshot())
    with pytest.raises(InputError) as caught:
        admission.offer(make(**fields))
    assert {fault.code for fault in caught.value.faults} == {code}
    assert all(fault.expected or code == "E2009" for fault in caught.value.faults)
    assert admission.snapshot() == before


@pytest.mark.parametrize("given", [None, 7, "r", {}, SimpleNamespace(name="r")])
def test_what_is_no_request_at_all_is_refused(admission, given):
    before = copy.deepcopy(admission.snapshot())
    with pytest.raises(InputError, match="E1107"):
        admission.offer(given)
    assert admission.snapshot() == before


def test_a_name_that_is_none_is_not_released(admission):
    with pytest.raises(InputError, match="E2010"):
        admission.release(["old"])


def test_all_faults_are_said_at_once(admission):
    with pytest.raises(InputError) as caught:
        admission.offer(duck(name="old", value=-1.0, arrival=3.0, end=2.0))
    assert {fault.code for fault in caught.value.faults} == {"E2002", "E2003", "E2006", "E2009"}


def test_what_looks_like_a_request_is_as_good_as_one(admission):
    other = Admission.restore(admission.snapshot())
    found, same = admission.offer(duck()), other.offer(as_real(duck()))
    assert found.accepted and found.zone.tolist() == same.zone.tolist()
    assert admission.snapshot() == other.snapshot()


def as_real(given):
    return ClusterRequest(**vars(given))


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda a: a.release("nobody"), "E2010"),
        (lambda a: a.release("old", at=4.5), "E2011"),
        (lambda a: a.release("old", at=math.nan), "E2007"),
        (lambda a: a.advance(4.9), "E2011"),
        (lambda a: a.advance(math.nan), "E2007"),
        (lambda a: a.advance(math.inf), "E2007"),
        (lambda a: a.advance("later"), "E2007"),
        (lambda a: a.advance(1e300), "E2012"),
        (lambda a: a.prices(3.0), "E2011"),
        (lambda a: a.utilisation(math.nan), "E2007"),
    ],
)
def test_other_calls_without_sense_change_nothing_either(admission, call, code):
    before = copy.deepcopy(admission.snapshot())
    with pytest.raises(InputError) as caught:
        call(admission)
    assert [fault.code for fault in caught.value.faults] == [code]
    assert admission.snapshot() == before


def test_what_has_ended_cannot_be_released(admission):
    admission.advance(9)
    with pytest.raises(InputError, match="E2010"):
        admission.release("old")


def test_a_capacity_that_cannot_be_added_up_is_refused():
    with pytest.raises(InputError, match="E2016 zone 'a'"):
        Admission(zones_of([[2**62]]))


@pytest.mark.parametrize("admitter", ADMITTERS.values(), ids=ADMITTERS)
def test_members_that_cannot_be_added_up_are_refused(admitter):
    zones = zones_of([[2**61]] * 3)
    stream = ClusterRequests(zones=zones, requests=(request_of("r", demand=[[2**61]] * 8),))
    with pytest.raises(InputError, match="E2016 request 'r'"):
        admitter(stream, AdmitOptions(), budget=Budget(), seed=0, progress=silent)


@pytest.mark.parametrize("one_shot", ONE_SHOTS)
def test_the_largest_amounts_that_can_be_added_up_are_never_over_capacity(one_shot):
    admission = Admission(zones_of([[2**62 - 1]] * 2), AdmitOptions(one_shot=one_shot, value_ratio=2.0))
    decision = admission.offer(request_of("r", demand=[[2**61 - 1]] * 2, value=2.0**40))
    assert decision.accepted
    admission.offer(request_of("s", demand=[[2**61], [2**61 - 1]], value=2.0**40))
    assert (admission.utilisation(0.0).zone <= 1.0).all()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d.pop("bayplan-admission"), "E2013"),
        (lambda d: d.update({"bayplan-admission": 99}), "E2013"),
        (lambda d: d.pop("running"), "E2014"),
        (lambda d: d.pop("calendar"), "E2014"),
        (lambda d: d.update(now="noon"), "E2014"),
        (lambda d: d["options"].update(magic=1), "E2014"),
        (lambda d: d["zones"].update(capacity=[[1]]), "E2014"),
        (lambda d: d["calendar"]["slots"][0].__setitem__(2, [10**6] * 4), "E2014"),
        (lambda d: d["calendar"]["slots"][0].__setitem__(1, [99] * 4), "E2015"),
        (lambda d: d["running"][0].update(zone=[0, 2]), "E2015"),
        (lambda d: d["running"][0].update(resource=[0, 1, -1, 2]), "E2015"),
    ],
)
def test_a_snapshot_that_is_not_one_is_refused(admission, change, code):
    data = copy.deepcopy(admission.snapshot())
    change(data)
    with pytest.raises(InputError) as caught:
        Admission.restore(data)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_what_is_no_snapshot_at_all_is_refused():
    with pytest.raises(InputError, match="E2013"):
        Admission.restore([])
