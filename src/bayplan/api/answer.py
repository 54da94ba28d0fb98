"""What every verb returns: the answer as values, in words, as a page, as a file and as JSON."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from bayplan.model import Reason, Result, Status

if TYPE_CHECKING:
    from bayplan.report.table import Report

S = TypeVar("S")
PathLike = str | os.PathLike[str]


class Move(NamedTuple):
    """A container that changes machines."""

    container: str
    source: str  # the machine that it leaves
    target: str  # the machine that it goes to

    def __str__(self) -> str:
        return f"{self.container}: {self.source} -> {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer(ABC, Generic[S]):
    """What a method answered, and what there is to say about it."""

    verb: str
    method: str
    seed: int
    result: Result[S]
    before: Mapping[str, float] = field(default_factory=dict)  # the scores of the input, as `score` has those of the answer
    seconds: float = 0.0  # all of it: the method, the referee, the scores
    interrupted: bool = False  # the user asked it to stop: this is the best so far
    input_notes: tuple[str, ...] = ()  # what the reader of the input had to decide
    files: Mapping[str, str] = field(default_factory=dict)  # what was written, by what it is

    @property
    def status(self) -> Status:
        """How it ended."""
        return self.result.status

    @property
    def score(self) -> Mapping[str, float]:
        """The scores of the answer, by term."""
        return self.result.score

    @property
    def goal(self) -> str:
        """The score that the method was after."""
        return self.result.goal

    @property
    def bound(self) -> float | None:
        """What the goal's score cannot pass, proven; None if nothing is proven."""
        return self.result.bound

    @property
    def gap(self) -> float | None:
        """How far the goal's score may be from the best possible, relative to the score."""
        return self.result.gap

    @property
    def left_out(self) -> tuple[Reason, ...]:
        """What is not in the answer, each with the reason."""
        return self.result.left_out

    @property
    def still_violated(self) -> tuple[str, ...]:
        """Rules that the input violates and the answer too; where there is no answer, why."""
        return self.result.still_violated

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the input and about how the answer was made."""
        return (*self.input_notes, *self.result.notes)

    @property
    def solve_seconds(self) -> float:
        """What the method took."""
        return self.result.seconds

    @property
    def moves(self) -> Sequence[Move]:
        """The containers that change machines; replicas are interchangeable, so as few as possible."""
        return ()

    @property
    def moved(self) -> int:
        """How many containers change machines."""
        return len(self.moves)

    @property
    @abstractmethod
    def placed(self) -> int:
        """How many containers (or requests) that had no place got one."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """The answer in one sentence."""

    @abstractmethod
    def content(self) -> "Report":
        """Facts, tables and sentences, in the order in which they are shown."""

    @abstractmethod
    def details(self) -> Mapping[str, Any]:
        """What this verb says beside what all verbs say, for `to_dict`."""

    @abstractmethod
    def save(self, path: PathLike) -> None:
        """Write the answer in the form of its input."""

    @abstractmethod
    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page; `command` is what its footer says about how it was made."""

    def summary(self) -> str:
        """The answer in plain text: the words of the command line."""
        from bayplan.report.terminal import text_of

        return text_of(self.full_content())

    def full_content(self) -> "Report":
        """The headline, then the content."""
        from bayplan.report.table import Sentence, report

        return report(Sentence(self.headline, "strong")) + self.content()

    def to_dict(self) -> dict[str, Any]:
        """The object that `--json` prints; `docs/json.md` describes it."""
        moves = [{"container": move.container, "from": move.source, "to": move.target} for move in self.moves]
        return {**self.to_dict_without_moves(), "moves": moves}  # in the place that it has there

    def to_dict_without_moves(self) -> dict[str, Any]:
        """The same object without its moves, of which there may be thousands."""
        from bayplan.report.json import plain

        answer = {
            "verb": self.verb,
            "method": self.method,
            "status": self.status.value,
            "goal": self.goal,
            "score": self.score,
            "before": self.before,
            "after": self.score,
            "bound": self.bound,
            "gap": self.gap,
            "placed": self.placed,
            "moved": self.moved,
            "moves": [],
            "left_out": [{"name": reason.subject, "reason": reason.text} for reason in self.left_out],
            "still_violated": self.still_violated,
            "notes": self.notes,
            "interrupted": self.interrupted,
            "seed": self.seed,
            "seconds": self.seconds,
            "solve_seconds": self.solve_seconds,
            "files": self.files,
            "details": self.details(),
        }
        plain_answer: dict[str, Any] = plain(answer)
        return plain_answer

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content(), headline=self.headline)

    def __str__(self) -> str:
        return self.headline
