"""A stream of whole numbers, read field by field: the files of GMRP are nothing else.

Plain numbers are read many at a time: 25 million of them in half a second.
"""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.errors import Fault, InputError
from bayplan.model import IntArray, ints

MOST_DIGITS = 18  # this many always fit int64
_BLOCK = 1 << 18  # characters at a time: all that is made of them stays in the processor's cache
_TAIL = 32  # characters: no number is longer
_SPACE, _DIGIT, _PLUS, _MINUS, _JUNK = range(5)
_KIND = np.full(256, _JUNK, dtype=np.uint8)
_KIND[[character for character in range(128) if chr(character).isspace()]] = _SPACE
_KIND[ord("0") : ord("9") + 1] = _DIGIT
_KIND[ord("+")], _KIND[ord("-")] = _PLUS, _MINUS
_KINDS = _KIND.tobytes()  # for bytes.translate

Bytes = npt.NDArray[np.uint8]


def plain_numbers(text: str) -> IntArray | None:
    """The numbers that `text` holds between white space, read-only; None if there is anything else in it."""
    if not text.isascii():
        return None
    number = np.empty((len(text) + 1) // 2, dtype=np.int64)  # memory that is not written to costs nothing
    at = count = 0
    while at < len(text):
        chunk = text[at : at + _BLOCK].encode("ascii")
        block, kind = np.frombuffer(chunk, dtype=np.uint8), np.frombuffer(chunk.translate(_KINDS), dtype=np.uint8)
        size = len(chunk) if at + len(chunk) == len(text) else _whole(kind)
        new = _numbers(block[:size], kind[:size]) if size else None
        if new is None:
            return None
        number[count : count + len(new)] = new
        at, count = at + size, count + len(new)
    number.flags.writeable = False
    return number[:count]


def _whole(kind: Bytes) -> int:
    """How much of a block to take, so that it ends with white space and cuts no token; 0 if its last token is too long."""
    space = np.flatnonzero(kind[-_TAIL:] == _SPACE)
    return len(kind) - min(_TAIL, len(kind)) + int(space[-1]) + 1 if len(space) else 0


def _numbers(block: Bytes, kind: Bytes) -> IntArray | None:
    most = kind.max(initial=_SPACE)
    if most == _JUNK:
        return None
    is_digit = np.zeros(len(block) + 2, dtype=np.bool_)
    is_digit[1:-1] = kind == _DIGIT
    edge = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    first, end = edge[0::2], edge[1::2]
    value = _values(block, end, end - first)
    return value if value is None or most <= _DIGIT else _signed(value, kind, first)


def _values(block: Bytes, end: IntArray, length: IntArray) -> IntArray | None:
    """What the digits before each `end` say, from the last digit to the first."""
    longest = int(length.max(initial=0))
    if longest > MOST_DIGITS:
        return None
    value = block[end - 1].astype(np.int64) - ord("0")
    long = np.flatnonzero(length > 1)
    for k in range(1, longest):
        value[long] += (block[end[long] - 1 - k].astype(np.int64) - ord("0")) * 10**k
        long = long[length[long] > k + 1]
    return value


def _signed(value: IntArray, kind: Bytes, first: IntArray) -> IntArray | None:
    """Values with their signs; None if a sign does not stand between white space and a digit."""
    around = np.concatenate([[_SPACE], kind, [_SPACE]])  # at + 1 is what stands at `at`
    sign = np.flatnonzero(kind > _DIGIT)
    if (around[sign] != _SPACE).any() or (around[sign + 2] != _DIGIT).any():
        return None
    negative = sign[kind[sign] == _MINUS]
    value[np.searchsorted(first, negative + 1)] *= -1
    return value


_WHOLE = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}")
_SHOWN = 40  # characters of a token that a message repeats


@dataclass(slots=True)
class IntegerStream:
    """The numbers of one file and how far they have been read."""

    source: str
    number: IntArray
    at: int = 0

    def take(self, count: int, field: str) -> IntArray:
        """The next `count` numbers; InputError if the file ends before that."""
        left = len(self.number) - self.at
        if count > left:
            raise InputError(
                self.source,
                [
                    Fault(
                        code="E1702",
                        kind="field",
                        name=field,
                        problem="the file ends while it is read",
                        value=f"{left} integers left",
                        expected=f"{count} more after the first {self.at}",
                    )
                ],
            )
        part = self.number[self.at : self.at + count]
        self.at += count
        return part

    def one(self, field: str) -> int:
        """The next number."""
        return int(self.take(1, field)[0])

    def count(self, field: str, *, least: int = 0) -> int:
        """The next number, which says how many of something follow."""
        value = self.one(field)
        if value < least:
            raise InputError(
                self.source,
                [
                    Fault(
                        code="E1704",
                        kind="field",
                        name=field,
                        problem="a count is too small",
                        value=str(value),
                        expected=f"{least} or more",
                    )
                ],
            )
        return value

    def rest(self) -> list[Fault]:
        """A fault if numbers are left over."""
        left = len(self.number) - self.at
        if not left:
            return []
        return [
            Fault(
                code="E1703",
                kind="file",
                name="",
                problem="numbers are left over after the last field",
                value=f"{left} integers",
                expected=f"{self.at} integers in all",
            )
        ]


def integer_stream(text: str, source: str) -> IntegerStream:
    """The numbers of `text`; InputError with the place of each token that is none."""
    number = plain_numbers(text)
    return IntegerStream(source=source, number=_each_token(text, source) if number is None else number)


def _each_token(text: str, source: str) -> IntArray:
    """Like `plain_numbers`, one token at a time, for text with anything unusual in it."""
    odd = _strange_tokens(text) if "_" in text or not text.isascii() else []  # int() takes 1_000 and other scripts' digits
    if odd:
        raise InputError(source, odd)
    try:
        return ints(np.array(list(map(int, text.split())), dtype=np.int64))
    except (ValueError, OverflowError):
        raise InputError(source, _strange_tokens(text)) from None


def _strange_tokens(text: str) -> list[Fault]:
    faults = []
    for row, line in enumerate(text.splitlines(), start=1):
        for match in re.finditer(r"\S+", line):
            token = match[0]
            if not _WHOLE.fullmatch(token):
                faults.append(
                    Fault(
                        code="E1701",
                        kind="token",
                        name=f"line {row} column {match.start() + 1}",
                        problem="not a whole number that int64 holds",
                        value=token if len(token) <= _SHOWN else token[:_SHOWN] + "...",
                        expected=f"digits, {MOST_DIGITS} at most",
                    )
                )
    return faults
