"""A stream of whole numbers, read field by field: the files of GMRP are nothing else."""

import re
from dataclasses import dataclass

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.gmrp.digits import MOST_DIGITS, plain_numbers
from bayplan.model import IntArray, ints

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
