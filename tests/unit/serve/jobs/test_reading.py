"""Bytes that are sent become what they hold, packed or not, and never more of them than is allowed."""

import gzip

import pytest

import bayplan as bp
from bayplan.serve.jobs.reading import unpacked

TEXT = b'{"bayplan": 1}' * 1000


@pytest.mark.parametrize(
    "packed",
    [TEXT, gzip.compress(TEXT), gzip.compress(TEXT[:500]) + gzip.compress(TEXT[500:])],
    ids=["plain", "packed", "in two parts"],
)
def test_gzip_is_unpacked_also_in_several_parts(packed):
    assert unpacked(packed, len(TEXT)) == TEXT


def test_a_body_that_unpacks_to_too_much_is_refused_before_it_is_unpacked():
    bomb = gzip.compress(b"\0" * 200_000_000)
    with pytest.raises(bp.InputError) as raised:
        unpacked(bomb, 1_000_000)
    assert raised.value.faults[0].code == "E2741"


def test_a_body_that_is_too_long_is_refused():
    with pytest.raises(bp.InputError, match="E2741"):
        unpacked(TEXT, 100)


@pytest.mark.parametrize("cut", [1, 3, 9, 20])
def test_a_stream_that_is_cut_off_is_said(cut):
    with pytest.raises(bp.InputError, match="E1008"):
        unpacked(gzip.compress(TEXT)[:-cut], len(TEXT))


def test_a_stream_that_is_damaged_is_said():
    packed = bytearray(gzip.compress(TEXT))
    packed[15] ^= 0xFF
    with pytest.raises(bp.InputError, match="E1008"):
        unpacked(bytes(packed), len(TEXT))
