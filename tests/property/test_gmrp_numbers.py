"""The quick reader of whole numbers says what the slow one says, of any text."""

from hypothesis import example, given
from hypothesis import strategies as st

from bayplan.errors import InputError
from bayplan.formats.gmrp import integers
from bayplan.formats.gmrp.integers import integer_stream, plain_numbers

SPACES = [" ", "\n", "\t", "\r\n", "  ", "\x0b", "\x0c", "\x1c", "\x1f"]
whole = st.integers(-(10**18) + 1, 10**18 - 1) | st.integers(-20, 20)
written = st.builds(
    lambda value, plus, zeros: f"{'-' if value < 0 else plus}{'0' * min(zeros, 18 - len(str(abs(value))))}{abs(value)}",
    whole,
    st.sampled_from(["", "+"]),
    st.integers(0, 3),
)
spaces = st.lists(st.sampled_from(SPACES), min_size=1, max_size=3).map("".join)
junk = st.text(alphabet="0123456789+- \n_.xe\x00\x85\xa0\u0663", max_size=40)  # 0x0663: a digit that is not ASCII


def slow(text: str) -> list[int] | None:
    """One token at a time, as `int` reads them; None if some text is no number of at most 18 integers."""
    tokens = text.split()
    fine = all(len(t.lstrip("+-")) <= 18 and t.lstrip("+-").isdigit() and t.isascii() and len(t) < 20 for t in tokens)
    try:
        return [int(token) for token in tokens] if fine else None
    except ValueError:
        return None


def quick(text: str) -> list[int] | None:
    number = plain_numbers(text)
    return None if number is None else number.tolist()


@given(st.lists(st.tuples(written, spaces)), st.sampled_from(["", *SPACES]), st.booleans())
def test_plain_numbers_are_read_exactly(pairs, before, after):
    text = before + "".join(token + space for token, space in pairs)
    text = text if after else text.rstrip()
    assert quick(text) == [int(token) for token, _ in pairs]


@given(junk)
@example("1-2")
@example("+-1")
@example("- 1")
@example("1 -")
@example("1" * 19)
@example("0" * 19 + "7")
@example("")
@example("\n")
def test_anything_else_is_left_to_the_slow_reader(text):
    quickly = quick(text)
    assert quickly == slow(text) or (quickly is None and not text.isascii())


@given(junk, st.integers(1, 9))
def test_where_a_block_ends_changes_nothing(text, size):
    whole_text = quick(text)
    block, tail = integers._BLOCK, integers._TAIL
    integers._BLOCK = integers._TAIL = max(size, 1 + max(map(len, text.split()), default=0))
    try:
        assert quick(text) == whole_text
    finally:
        integers._BLOCK, integers._TAIL = block, tail


@given(junk)
def test_every_text_is_numbers_or_says_which_token_is_none(text):
    try:
        number = integer_stream(text, "x").number
    except InputError as error:
        assert error.faults
        assert {fault.code for fault in error.faults} == {"E1701"}
        return
    assert number.tolist() == [int(token) for token in text.split()]
    assert not number.flags.writeable


def test_a_token_longer_than_a_block_is_left_to_the_slow_reader():
    assert plain_numbers("1 " + "0" * (integers._BLOCK + 1)) is None


def test_numbers_across_blocks_are_not_cut():
    text = " ".join(map(str, range(integers._BLOCK // 4)))
    assert len(text) > integers._BLOCK
    assert quick(text) == list(range(integers._BLOCK // 4))
