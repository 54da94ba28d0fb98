"""Which kernels a method may call, read from the source: every name that it uses, and that those use, down to kernels.

python -m tests.builders.kernels_needed     writes `bayplan/api/kernels_needed.json` anew
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import bayplan
from bayplan.api import warm_up
from bayplan.api.registry import REGISTRIES, method_of, methods
from bayplan.api.requests.admit import LIVE
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.generate import GENERATORS
from bayplan.kernels.ahead import all_kernels
from bayplan.kernels.jit import ENTRIES

Name = tuple[str, str]  # module, name in it

SOURCE = Path(bayplan.__file__).parents[1]
KERNELS = "bayplan.kernels."
ALL = "*"
BEST = "bayplan.decide.collocate.best"
REPAIR = "bayplan.search.repair", "repair"
GREEDY = f"{KERNELS}admit.decide", "decide_greedily"  # of the one-shot method greedy only
FIRST_FOUND = f"{KERNELS}admit.first_feasible", "first_feasible"  # of the method available only
FAILURES = "bayplan.decide.capacity.survive", "survive"
SIMULATED = "bayplan.score.performance.simulation", "simulate_walks"
WITHIN_RULES = "bayplan.decide.pack.within_rules", "within_all_rules"
CONDITIONAL = (REPAIR, WITHIN_RULES)
EVERY_ONE_SHOT = "bayplan.decide.admit.one_shot", "ONE_SHOTS"
AFTER: Mapping[str, Name] = {"pack": ("bayplan.api.pack", "pack"), "schedule": ("bayplan.api.requests.schedule", "solve")}


def kernels_needed() -> dict[str, dict[str, list[str]]]:
    """By verb and method; by one-shot method of admission; by generator.

    What is not always called has an entry of its own: a bound that is asked for, a one-shot method, a way of the method `best`,
    the repair of a start that violates rules, rules that packers do not know.
    """
    needed = {
        verb: {name: needed_by([_home(method_of(verb, name)), *_after(verb)], without=CONDITIONAL) for name in methods(verb)}
        for verb in REGISTRIES
    }
    needed["capacity"] = {"failures": needed_by([FAILURES])}
    needed["performance"] = {"distribution": needed_by([SIMULATED])}
    needed["search"] = {"repair": needed_by([REPAIR])}
    needed["pack"]["within rules"] = needed_by([WITHIN_RULES], without=[REPAIR])
    ways = {"best, in counts": (BEST, "_annealed"), "best, by search": (BEST, "_searched")}
    needed["collocate"]["best"] = needed_by([(BEST, "best")], without=ways.values())
    needed["collocate"] |= {name: needed_by([way], without=[REPAIR]) for name, way in ways.items()}
    needed["collocate"]["bound"] = needed_by([("bayplan.api.collocate", "_bounded")])
    needed["one-shot"] = {name: needed_by([_home(one_shot)]) for name, one_shot in ONE_SHOTS.items()}
    needed["one-shot"]["greedy"] += needed_by([GREEDY])
    first_found = {"available": [FIRST_FOUND]}
    needed["admit"] |= {
        name: needed_by([_home(method_of("admit", name))], without=[EVERY_ONE_SHOT, GREEDY, FIRST_FOUND])
        + needed_by(first_found.get(name, []))
        for name in LIVE
    }
    needed["admit"]["bound"] = needed_by([("bayplan.api.requests.admit", "_bounded")])
    needed["generate"] = {name: needed_by([_home(generator.make.target)]) for name, generator in GENERATORS.items()}
    return {verb: {name: kernels for name, kernels in by_method.items() if kernels} for verb, by_method in needed.items()}


def needed_by(roots: Iterable[Name], without: Iterable[Name] = ()) -> list[str]:
    """The kernels that some names lead to."""
    all_kernels()  # imports them
    seen, todo, kernels = set(without), list(roots), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name[0].startswith(KERNELS):
            kernels.add(f"{name[0].removeprefix(KERNELS)}.{name[1]}")
        else:
            todo += _uses(*name)
    return sorted(kernels & ENTRIES.keys())


def _home(function: object) -> Name:
    target = getattr(function, "func", function)
    return target.__module__, target.__qualname__.partition(".")[0]


def _after(verb: str) -> list[Name]:
    """What the library calls after every method of a verb."""
    return [AFTER[verb]] if verb in AFTER else []


@cache
def _uses(module: str, name: str) -> tuple[Name, ...]:
    """Names of bayplan that the definition of a name mentions, each with the module that defines it."""
    definitions, imports = _module(module)
    if name == ALL:
        return tuple((module, each) for each in definitions)
    mentioned: dict[Name, None] = {}
    for node in definitions.get(name, ()):
        local = {alias: home for inner in ast.walk(node) for alias, home in _imported(inner)}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                known = {**imports, **local}.get(inner.id, (module, inner.id) if inner.id in definitions else None)
                if known is not None:
                    mentioned[_defined(*known)] = None
    return tuple(mentioned)


@cache
def _module(module: str) -> tuple[dict[str, list[ast.stmt]], dict[str, Name]]:
    """What a module defines at its top, and what it imports from bayplan."""
    definitions: dict[str, list[ast.stmt]] = {}
    imports: dict[str, Name] = {}
    for statement in ast.parse(_path(module).read_text(encoding="utf-8")).body:
        imports |= dict(_imported(statement))
        for name in _names(statement):
            definitions.setdefault(name, []).append(statement)
    return definitions, imports


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    for node in ast.walk(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _imported(node: ast.AST) -> Iterator[tuple[str, Name]]:
    if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("bayplan."):
        for alias in node.names:
            yield alias.asname or alias.name, (node.module, alias.name)


def _defined(module: str, name: str) -> Name:
    """Where a name that is imported from somewhere is defined. A module stands for all that it defines."""
    if _path(f"{module}.{name}").exists():
        return f"{module}.{name}", ALL
    if not _path(module).exists() or module.startswith(KERNELS):
        return module, name
    definitions, imports = _module(module)
    return _defined(*imports[name]) if name in imports and name not in definitions else (module, name)


def _path(module: str) -> Path:
    path = SOURCE / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


if __name__ == "__main__":
    warm_up.NEEDED.write_text(json.dumps(kernels_needed(), indent=1) + "\n", encoding="utf-8")
