"""The verbs of jobs: which function of the library each of them calls, what it is about, and which options it takes.

The options are read from the signatures of these functions and from the keywords that they are typed with, so that there is one
list of them: the library's own.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from inspect import Parameter, getdoc, signature
from typing import Any, get_args, get_type_hints

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.model.goal import GOALS, Goal
from bayplan.serve.jobs.value_types import JsonSchema, MisfitError, ValueType, any_of, choice, shown, value_type, within

CLUSTER, REQUESTS, STREAM = "cluster", "requests", "stream"  # what a snapshot may hold
KINDS = (CLUSTER, REQUESTS, STREAM)
DESCRIBED = re.compile(r"^- (?P<names>`\w+`(?:, `\w+`)*): (?P<text>.*?)(?=^- `|\Z|^\s*$|^>>>)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A function of the library that can run as a job."""

    name: str
    home: str  # module:function
    about: str  # what it does, in a sentence
    of: tuple[str, ...] = (CLUSTER,)  # what the snapshot must hold
    methods: str = ""  # the verb of the registry whose methods it takes
    left_out: tuple[str, ...] = ()  # arguments that only a program has a use for
    has_files: bool = True  # has its answer a page, and something to save?

    @property
    def call(self) -> Any:
        """The function."""
        module, name = self.home.split(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbOption:
    """One option of a verb."""

    name: str
    kind: ValueType
    about: str = ""
    required: bool = False
    default: Any = None

    @property
    def schema(self) -> JsonSchema:
        """Its JSON Schema, with what the library's documentation says about it."""
        about = {"description": self.about} if self.about else {}
        shown_default = not self.required and self.default is not None and self.default == self.default
        plain = isinstance(self.default, str | bool | int | float) and self.default != math.inf
        return {**self.kind.schema, **about, **({"default": self.default} if shown_default and plain else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionLimits:
    """What a server allows one job."""

    seconds: float = 3_600.0
    threads: int = 8


VERBS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            name="plan",
            home="bayplan.api.planning.plan:plan",
            about="what should move, what that gains, in which order",
            left_out=("engine",),
        ),
        Verb(name="place", home="bayplan.api.place:place", about="a machine for every container without one", methods="place"),
        Verb(
            name="rebalance",
            home="bayplan.api.rebalance:rebalance",
            about="running containers to where they are better off",
            methods="rebalance",
            left_out=("engine",),
        ),
        Verb(
            name="collocate",
            home="bayplan.api.collocate:collocate",
            about="workloads that talk onto the same machines",
            methods="collocate",
            left_out=("engine",),  # a job is one process
        ),
        Verb(name="migrate", home="bayplan.api.migrate:migrate", about="a safe order of moves to a target", methods="migrate"),
        Verb(
            name="pack",
            home="bayplan.api.pack:pack",
            about="containers whose usage varies onto machines, at a stated confidence",
            methods="pack",
            left_out=("engine",),
        ),
        Verb(
            name="machines-needed",
            home="bayplan.api.packing.machines_needed:machines_needed",
            about="how many machines of which type all containers need from empty",
            has_files=False,
            left_out=("engine",),
        ),
        Verb(
            name="schedule",
            home="bayplan.api.requests.schedule:schedule",
            about="which timed requests to serve, and where",
            of=(REQUESTS,),
            methods="schedule",
        ),
        Verb(
            name="sweep",
            home="bayplan.api.requests.sweep:sweep_machines",
            about="what each of several numbers of machines is good for",
            of=(REQUESTS,),
            methods="schedule",
            left_out=("engine",),
        ),
        Verb(
            name="admit",
            home="bayplan.api.requests.admit:admit",
            about="which requests of a whole stream to accept",
            of=(STREAM,),
            methods="admit",
        ),
        Verb(
            name="capacity",
            home="bayplan.api.capacity:capacity",
            about="which failures the cluster survives",
            left_out=("engine",),
        ),
        Verb(name="what-if", home="bayplan.api.what_if.state:what_if_state", about="the cluster as a scenario changes it"),
        Verb(name="check", home="bayplan.api.check:check", about="every violated rule, in a sentence"),
        Verb(name="show", home="bayplan.api.inspect:show", about="the state in numbers", of=KINDS),
        Verb(
            name="explain",
            home="bayplan.api.inspect:explain",
            about="why a container is where it is",
            left_out=("plan", "why"),
        ),
    )
}


@cache
def options_of(verb: str, limits: OptionLimits = OptionLimits()) -> Mapping[str, VerbOption]:
    """The options of a verb by name: the arguments of its function but for the first, which is what it is about."""
    entry = VERBS[verb]
    call = entry.call
    options: dict[str, VerbOption] = {}
    _, *parameters = signature(call).parameters.values()
    hints, described = get_type_hints(call) if parameters else {}, _described(getdoc(call) or "")
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_KEYWORD:
            keywords = get_type_hints(get_args(hints[parameter.name])[0])
            given = {name: (hint, None, False) for name, hint in keywords.items()}
        else:
            needed = parameter.default is Parameter.empty
            given = {parameter.name: (hints[parameter.name], None if needed else parameter.default, needed)}
        for name, (hint, default, needed) in given.items():
            kind = value_type(hint)
            if kind is not None and name not in entry.left_out:
                kind = _narrowed(entry, name, kind, limits)
                option = VerbOption(name=name, kind=kind, about=described.get(name, ""), required=needed, default=default)
                options[name] = option
    return options


def _narrowed(verb: Verb, name: str, kind: ValueType, limits: OptionLimits) -> ValueType:
    """What the signature cannot say: the names of methods and goals, and what the server allows."""
    if name == "method" and verb.methods:
        from bayplan.api.registry import methods

        return choice(methods(verb.methods))
    if name == "goal":
        return any_of([choice(list(GOALS)), *filter(None, [value_type(Goal)])])
    if name == "seconds":
        return within(kind, 0, limits.seconds)
    if name == "threads":
        return within(kind, 1, limits.threads)
    if name == "seed":
        return within(kind, 0, 2**32 - 1)
    return kind


def _described(text: str) -> dict[str, str]:
    """Option -> what a docstring says about it in its list."""
    about: dict[str, str] = {}
    for entry in DESCRIBED.finditer(text):
        for name in re.findall(r"`(\w+)`", entry["names"]):
            about[name] = " ".join(entry["text"].split()).rstrip(";.")
    return about


def options_schema(verb: str, limits: OptionLimits = OptionLimits()) -> JsonSchema:
    """The JSON Schema of a verb's options."""
    options = options_of(verb, limits)
    needed = [name for name, option in options.items() if option.required]
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: option.schema for name, option in options.items()},
        "additionalProperties": False,
    }
    return {**schema, **({"required": needed} if needed else {})}


def read_options(verb: str, stated: Any, limits: OptionLimits = OptionLimits()) -> dict[str, Any]:
    """The options of a request as the library takes them; InputError with one fault for each that it cannot take."""
    options = options_of(verb, limits)
    if not isinstance(stated, dict):
        raise InputError(
            f"job of {verb}", [_fault("E2732", "options", "are not an object", stated, "an object: options by name")]
        )
    faults, values = list(_missing(verb, options, stated)), {}
    for name, value in stated.items():
        if name not in options:
            hint = did_you_mean(name, options)
            expected = f"one of {', '.join(options)}{hint}" if options else f"none: {verb} has no options"
            faults.append(_fault("E2731", name, f"is no option of {verb}", value, expected))
            continue
        try:
            values[name] = options[name].kind.read(value)
        except MisfitError as misfit:
            at, wrong = f"{name}{misfit.place}", misfit.value if misfit.place else value
            faults.append(_fault("E2732", at, "cannot be used", wrong, misfit.expected))
    if faults:
        raise InputError(f"job of {verb}", faults)
    return values


def _missing(verb: str, options: Mapping[str, VerbOption], stated: Mapping[str, Any]) -> Sequence[Fault]:
    return [
        Fault(code="E2733", kind="option", name=name, problem=f"is missing: {verb} needs it", expected=option.kind.expected)
        for name, option in options.items()
        if option.required and name not in stated
    ]


def _fault(code: str, name: str, problem: str, value: object, expected: str) -> Fault:
    return Fault(code=code, kind="option", name=name[:200], problem=problem, value=shown(value), expected=expected)


def with_limits(options: Mapping[str, VerbOption], values: dict[str, Any], limits: OptionLimits) -> dict[str, Any]:
    """The options within the server's limits, also where none is stated and the library has none.

    A budget of iterations gets no seconds: with them the same iterations could give another answer. The queue ends such a job.
    """
    budget = values.get("budget")
    if budget is not None:
        seconds = None if budget.seconds is None else min(budget.seconds, limits.seconds)
        values = {**values, "budget": replace(budget, seconds=seconds, threads=min(budget.threads, limits.threads))}
    option = options.get("seconds")
    if option is not None and "seconds" not in values and option.default == math.inf:
        values = {**values, "seconds": limits.seconds}
    return values
