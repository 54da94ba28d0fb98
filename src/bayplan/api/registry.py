"""Every verb's methods by name: ours, those of installed packages, and those that a caller registers.

A package offers a method under the entry-point group `bayplan.methods`, named `VERB.NAME`:

    [project.entry-points."bayplan.methods"]
    "rebalance.mine" = "my_package.methods:mine"
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from bayplan.errors import UsageError, WorldError, expect_one_of

GROUP = "bayplan.methods"
REGISTRIES: Mapping[str, tuple[str, str]] = {  # verb -> where the literal dict of its methods stands
    "place": ("bayplan.decide.place", "PLACERS"),
    "rebalance": ("bayplan.decide.rebalance", "REBALANCERS"),
    "collocate": ("bayplan.decide.collocate", "COLLOCATORS"),
    "pack": ("bayplan.decide.pack", "PACKERS"),
    "admit": ("bayplan.decide.admit", "ADMITTERS"),
    "schedule": ("bayplan.decide.schedule", "SCHEDULERS"),
    "migrate": ("bayplan.migrate", "MIGRATORS"),
}

Method = TypeVar("Method", bound=Callable[..., Any])
_registered: dict[tuple[str, str], Callable[..., Any]] = {}


def methods(verb: str) -> tuple[str, ...]:
    """The names of all methods of a verb, the default first.

    >>> import bayplan as bp
    >>> bp.methods("rebalance")[:4]
    ('search', 'sweep-search', 'nls', 'greedy')
    """
    own = _own(verb)
    added = sorted({name for known, name in (*_registered, *_offered()) if known == verb} - own.keys())
    return (*own, *added)


def register(verb: str, name: str) -> Callable[[Method], Method]:
    """A decorator that makes a function a method of a verb, for this process.

    The function has the signature of the verb's `Protocol` (such as `bayplan.decide.rebalance.Rebalancer`). What it returns
    passes the referee like any other answer. `bayplan.api.contract` has the tests that it should pass.

    >>> import bayplan as bp
    >>> @bp.register("rebalance", "stay")
    ... def stay(problem, options, *, budget, seed, progress):
    ...     from bayplan.search.answer import answer
    ...     return answer(problem, problem.start)
    >>> bp.rebalance(bp.generate("boutique"), method="stay").moved
    0
    """
    if name in _own(verb):
        raise UsageError(f"method '{name}' of {verb} exists already; expected another name")

    def add(method: Method) -> Method:
        _registered[verb, name] = method
        return method

    return add


def method_of(verb: str, name: str) -> Any:
    """The method of that name; UsageError that lists the others if there is none."""
    own = _own(verb)
    if name in own:
        return own[name]
    if (verb, name) in _registered:
        return _registered[verb, name]
    offered = {(entry_verb, entry_name): entry for entry_verb, entry_name, entry in _entries()}
    if (verb, name) in offered:
        return _loaded(offered[verb, name])
    expect_one_of(name, methods(verb), "method")
    raise AssertionError(name)


def _loaded(entry: EntryPoint) -> Any:
    """The method of an installed package; WorldError if that package is broken."""
    try:
        return entry.load()
    except Exception as error:  # whatever the package does when it is imported
        raise WorldError(f"method '{entry.name}' of {entry.value} cannot be loaded: {error}") from error


def _own(verb: str) -> Mapping[str, Callable[..., Any]]:
    expect_one_of(verb, REGISTRIES, "verb")
    module, registry = REGISTRIES[verb]
    methods_by_name: Mapping[str, Callable[..., Any]] = getattr(import_module(module), registry)
    return methods_by_name


def _offered() -> Iterator[tuple[str, str]]:
    return ((verb, name) for verb, name, _ in _entries())


def _entries() -> Iterator[tuple[str, str, EntryPoint]]:
    """Verb, name and entry point of what installed packages offer."""
    for entry in entry_points(group=GROUP):
        verb, _, name = entry.name.partition(".")
        yield verb, name, entry
