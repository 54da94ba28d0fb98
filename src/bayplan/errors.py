"""What can go wrong, as a tree:

BayplanError
├── InputError     the user's data is wrong: numbered faults, all of them at once
├── UsageError     the user's command is wrong: an unknown method, options that exclude each other
├── WorldError     a file, a program or a network does not answer
└── ModelError     a value of the model was built from parts that do not fit (also a ValueError)
    └── InternalError   bayplan contradicts itself: a numbered fault of its own, never of the input

"No placement exists" is not here: it is an answer (`Status.INFEASIBLE`), not an error.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayplan.codes import CODES
from bayplan.words import plural


class BayplanError(Exception):
    """Everything that bayplan raises on purpose.

    >>> import bayplan as bp
    >>> try:
    ...     bp.read("no-such-file.yaml")
    ... except bp.BayplanError as error:
    ...     print(type(error).__name__)
    InputError
    """


class UsageError(BayplanError):
    """A command or a call asks for something that does not exist.

    >>> import bayplan as bp
    >>> bp.generate("boutiqe")
    Traceback (most recent call last):
    bayplan.errors.UsageError: no generator 'boutiqe'; expected one of ...; did you mean 'boutique'?
    """


class WorldError(BayplanError):
    """Something outside of this process does not answer as expected: a file, a program, a network.

    >>> import bayplan as bp
    >>> bp.write(bp.generate("boutique"), "no-such-folder/boutique.json")
    Traceback (most recent call last):
    bayplan.errors.WorldError: cannot write 'no-such-folder/boutique.json': ...
    """


class ModelError(BayplanError, ValueError):
    """Parts of a model value contradict each other: a fault of the calling code. Also a ValueError.

    >>> import bayplan as bp
    >>> bp.Spread(service=0, minimum=-1)
    Traceback (most recent call last):
    bayplan.errors.ModelError: minimum -1 of a spread rule is negative
    """


class InternalError(ModelError):
    """bayplan contradicts itself, under a stable code of `docs/errors.md`: its answer must not be used."""

    def __init__(self, code: str, text: str) -> None:
        if code not in CODES:
            raise ModelError(f"fault code {code} is not in bayplan.codes")
        self.code = code
        super().__init__(f"{code} internal fault: {text}; {CODES[code].action}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong in the user's data, under a stable code of `docs/errors.md`."""

    code: str  # "E1102"
    kind: str  # "container"; also the word in "(3 such containers)"
    name: str  # which one; empty for the file itself
    problem: str  # "request cpu is negative"
    value: str = ""  # as the user wrote it
    expected: str = ""
    place: tuple[str | int, ...] = field(default=(), compare=False)  # keys and positions from the top of the document
    where: str = field(default="", compare=False)  # "line 41" of the file, if that is known

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ModelError(f"fault code {self.code} is not in bayplan.codes")

    def __str__(self) -> str:
        subject = f"{self.kind} '{self.name}'" if self.name else self.kind
        where = f"{self.where}, " if self.where else ""
        value = f" ({self.value})" if self.value else ""
        expected = f"; expected {self.expected}" if self.expected else ""
        return escaped(f"{self.code} {where}{subject}: {self.problem}{value}{expected}")


class InputError(BayplanError):
    """The user's data has at least one fault; `faults` has them all.

    >>> import bayplan as bp
    >>> try:
    ...     bp.ClusterBuilder("two").machine("m", cpu=1).workload("web", cpu="1 core").spread("wbe", 2).build()
    ... except bp.InputError as error:
    ...     print(*error.faults, sep="\\n")
    E1104 workload 'web': request cpu is not a quantity ("1 core"); expected a number such as 2, 500m, 1.5Gi, 1e3; did you mean 1?
    E1202 rule '1 (spread)': service names an unknown service ("wbe"); expected 'web', the only service; did you mean 'web'?
    """

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        if not self.faults:
            raise ModelError("an InputError needs at least one fault")
        super().__init__("\n".join([escaped(f"cannot use '{source}':"), *summary(self.faults)]))


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # what a terminal obeys instead of showing it


def escaped(text: str) -> str:
    """The text on one line, with its control characters written out: \\u001b."""
    return CONTROL.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)


SHOWN_ALONE = 3  # alike faults beyond this many are shown as one line, with a count and the first few names
LONG = 40  # letters of a name in such a list


def summary(faults: Iterable[Fault]) -> Iterator[str]:
    """One line per fault, and one line per group of faults that are alike."""
    groups: dict[tuple[str, str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.code, fault.kind, fault.problem), []).append(fault)
    for group in groups.values():
        if len(group) > SHOWN_ALONE:
            yield f"{group[0]} ({len(group)} such {plural(group[0].kind)}{_first_names(group)})"
        else:
            yield from map(str, group)


def _first_names(group: Sequence[Fault]) -> str:
    """': a, b, c, ...' for the names of a group; nothing if it has only one."""
    names = [name if len(name) <= LONG else f"{name[: LONG - 3]}..." for name in dict.fromkeys(fault.name for fault in group)]
    if len(names) == 1:
        return ""
    return escaped(": " + ", ".join([*names[:SHOWN_ALONE], *(["..."] if len(names) > SHOWN_ALONE else [])]))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: "; did you mean 'cpu'?", or nothing if no known name is close.

    >>> did_you_mean("memroy", ["cpu", "memory"])
    "; did you mean 'memory'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def expect_one_of(name: str, known: Iterable[str], kind: str) -> None:
    """UsageError that lists the known names, and says which one was probably meant, if `name` is none of them.

    >>> expect_one_of("serch", ["search", "greedy"], "method")
    Traceback (most recent call last):
    bayplan.errors.UsageError: no method 'serch'; expected one of search, greedy; did you mean 'search'?
    """
    names = list(known)
    if name not in names:
        raise UsageError(f"no {kind} '{name}'; expected one of {', '.join(names)}{did_you_mean(name, names)}")
