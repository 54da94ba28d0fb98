"""Kubernetes quantities: read exactly, written briefly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.model.quantities import LARGEST, format_quantity, parse_quantity, quantity_hint, to_base_units

EXACT = {
    "0": Fraction(0),
    "500m": Fraction(1, 2),
    "1.5Gi": Fraction(3 * 2**29),
    "1e3": Fraction(1000),
    "1E3": Fraction(1000),
    "1e-3": Fraction(1, 1000),
    "0.1": Fraction(1, 10),  # not the float
    ".5": Fraction(1, 2),
    "5.": Fraction(5),
    "+2": Fraction(2),
    "-2k": Fraction(-2000),
    "12E": Fraction(12 * 10**18),
    "12Ei": Fraction(12 * 2**60),
    "1n": Fraction(1, 10**9),
    "3u": Fraction(3, 10**6),
    "1Ki": Fraction(1024),
    "1k": Fraction(1000),
    " 7 ": Fraction(7),
    "123456789012345678901234567890": Fraction(123456789012345678901234567890),
}
WRONG = ["", "m", "Ki", "1K", "1ki", "1mi", "1.2.3", "1e", "1e3Gi", "1 Gi", "--1", "0x10", "nan", "inf", "1e9999", "1_000"]
WRONG += ["١", "9" * 65]  # digits of other scripts; more digits than anyone needs


@pytest.mark.parametrize(("text", "value"), EXACT.items(), ids=EXACT)
def test_quantities_are_read_exactly(text, value):
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(text)


def test_base_units_are_whole_and_fit_int64():
    assert to_base_units(Fraction(1, 2), 1000) == 500
    assert to_base_units(Fraction(LARGEST), 1) == LARGEST
    with pytest.raises(ValueError, match="finer than one 1000th of a unit"):
        to_base_units(Fraction(1, 3000), 1000)
    with pytest.raises(ValueError, match="not a whole number"):
        to_base_units(Fraction(1, 2), 1)
    with pytest.raises(ValueError, match=r"beyond 2\^63 - 1"):
        to_base_units(Fraction(LARGEST + 1), 1)


@pytest.mark.parametrize(
    ("amount", "scale", "text"),
    [
        (0, 1000, "0"),
        (500, 1000, "500m"),
        (16000, 1000, "16"),
        (17500, 1000, "17.5"),
        (1610612736, 1, "1536Mi"),
        (2**30, 1, "1Gi"),
        (10**9, 1, "1G"),
        (-500, 1000, "-500m"),
        (1, 7, "0.14285714285714285"),
    ],
)
def test_amounts_are_written_as_plainly_as_is_exact(amount, scale, text):
    assert format_quantity(amount, scale) == text


@given(st.integers(-LARGEST, LARGEST), st.sampled_from([1, 1000, 10**6, 10**9]))
def test_what_is_written_is_read_back(amount, scale):
    assert to_base_units(parse_quantity(format_quantity(amount, scale)), scale) == amount


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_decimals_lose_nothing(number):
    assert parse_quantity(f"{number:f}") == Fraction(number)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64GB", 64 * 10**9),
        ("500 MB", 500 * 10**6),
        ("64KB", 64_000),
        ("64kB", 64_000),
        ("2 GiB", 2**31),
        ("12B", 12),
        ("1EB", 10**18),
    ],
)
def test_bytes_may_be_written_as_such(text: str, value: int) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("64gb", "; did you mean 64Gi or 64G?"),
        ("64K", "; did you mean 64Ki or 64k?"),
        ("500mb", "; did you mean 500Mi or 500M?"),
        ("2 cores", "; did you mean 2?"),
        ("1 Gi", "; did you mean 1Gi?"),
        ("many", ""),
        ("3x", ""),
    ],
)
def test_what_is_no_quantity_gets_a_hint_where_the_meaning_can_be_guessed(text: str, hint: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(text)
    assert quantity_hint(text) == hint
