"""Ask the library or the command line, and bring what they answer into one shape."""

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.stress.cases import Case

import bayplan as bp
from bayplan.api.answer import Answer
from bayplan.cli.main import main
from bayplan.errors import UsageError
from bayplan.formats import read_accepted, read_placement, read_served
from bayplan.formats.requests import write_requests
from bayplan.formats.targets import read_plan_of, read_target
from bayplan.model import Budget, ClusterRequests, Placement, Snapshot, StepLimits, ints

ALLOWED_EXITS = (0, 3)
REFUSED_INPUTS = re.compile("E1115|E2012")  # machines without any capacity, requests too far ahead
FLAGS = {"bound", "relabel", "delete_missing", "literal"}
NAMES = {"least_gain": "min-gain", "weights": "weight"}  # where the command line has another word
SHOWN = 7  # every such case is also shown: as text, HTML and a page


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer, wherever it comes from."""

    status: str
    goal: str
    score: Mapping[str, float]
    bound: float | None
    left_out: tuple[str, ...]  # subjects
    solution: Any  # a Placement, a Schedule, an Acceptance or a Plan; None if there is none
    moved: int
    details: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None  # of the library


def ask(case: Case) -> Outcome:
    """The outcome of a case; whatever is raised is for the caller to judge."""
    return (
        from_command_line(case) if case.on_command_line and case.verb not in ("explain", "show", "plan") else from_library(case)
    )


# ---- the library ---------------------------------------------------------------------------------------------------------------


def from_library(case: Case) -> Outcome:
    """Call the function of the verb."""
    options = dict(case.options)
    if case.verb == "explain":
        return _explained(case)
    if case.verb == "show":
        return _shown(case)
    options["budget"] = Budget(iterations=case.iterations, seconds=case.seconds, threads=case.threads)
    if "limits" in options:
        options["limits"] = StepLimits(**options["limits"])
    if case.verb == "migrate":
        answer: Answer[Any] = bp.migrate(case.value, target_of(case), method=case.method, seed=case.seed % 100, **options)
    elif case.verb == "plan":
        drained = options.pop("drain", None)
        scenario = bp.WhatIf(drain=(drained,)) if drained is not None else bp.WhatIf()
        answer = bp.plan(case.value, goal=case.method, seed=case.seed % 100, what_if=scenario, **options)
    elif case.verb == "machines_needed":
        options.pop("n_sigma", None)
        answer = bp.machines_needed(case.value, seed=case.seed % 100, **options)
    else:
        answer = getattr(bp, case.verb)(case.value, method=case.method, seed=case.seed % 100, **options)
    document = answer.to_dict()
    json.dumps(document, allow_nan=False)
    if case.seed % SHOWN == 0:
        _show(answer)
    return Outcome(
        status=answer.status.value,
        goal=answer.goal,
        score=answer.score,
        bound=answer.bound,
        left_out=tuple(reason.subject for reason in answer.left_out),
        solution=answer.result.solution,
        moved=answer.moved,
        details=document["details"],
        answer=answer,
    )


def target_of(case: Case) -> Placement:
    """The target of a migration by index; what is not named has no machine."""
    number = {name: m for m, name in enumerate(case.value.cluster.machines.name)}
    return Placement(machine_of=ints([number.get(case.target.get(name), -1) for name in case.value.cluster.containers.name]))


def _show(answer: Answer[Any]) -> None:
    answer.summary()
    answer._repr_html_()
    if answer.method != "csp-machines" or hasattr(answer, "figures"):
        with TemporaryDirectory() as folder:
            answer.report(Path(folder) / "page.html")
            answer.save(Path(folder) / "answer.json")


def _explained(case: Case) -> Outcome:
    """Every container and workload is explained; the numbers are those of the rules."""
    from bayplan.api.inspect import explain

    for name in (*case.value.cluster.containers.name[:4], *case.value.cluster.workloads.name[:2]):
        explain(case.value, name)
    return Outcome(status="feasible", goal="", score={}, bound=None, left_out=(), solution=None, moved=0)


def _shown(case: Case) -> Outcome:
    """The state of the cluster, and what the referee says."""
    state = bp.score(case.value)
    json.dumps(state.to_dict(), allow_nan=False)
    state.summary()
    verdict = bp.check(case.value)
    json.dumps(verdict.to_dict(), allow_nan=False)
    return Outcome(
        status="feasible",
        goal="",
        score=state.score,
        bound=None,
        left_out=(),
        solution=case.value.placement,
        moved=0,
        answer=verdict,
    )


# ---- the command line ----------------------------------------------------------------------------------------------------------


class ExitCodeError(RuntimeError):
    """A command ended with a code that its answer does not explain."""


def from_command_line(case: Case) -> Outcome:
    """Write the input, run the command in this process, read what it wrote."""
    with TemporaryDirectory() as folder, _without_debugging():
        path, out = Path(folder) / "input.json", Path(folder) / "answer.json"
        write_input(case, path)
        arguments = [*command(case, Path(folder)), "--json", "--quiet"]
        if case.verb != "machines_needed":
            arguments += ["--out", str(out)]
        if case.seed % SHOWN == 0 and case.verb != "machines_needed":
            arguments += ["--report", str(Path(folder) / "page.html")]
        stdout, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            code = main(arguments)
        if code == 2 or REFUSED_INPUTS.search(stderr.getvalue()):
            raise UsageError(stderr.getvalue().removeprefix("bayplan: ").strip())
        if code not in ALLOWED_EXITS:
            raise ExitCodeError(f"exit {code}: {stderr.getvalue().strip()[:300]}")
        document = json.loads(stdout.getvalue())
        solution = _read_back(case, path, out) if out.exists() else None
    return Outcome(
        status=document["status"],
        goal=document["goal"],
        score={name: float("nan") if value is None else value for name, value in document["score"].items()},
        bound=document["bound"],
        left_out=tuple(entry["name"] for entry in document["left_out"]),
        solution=solution,
        moved=document["moved"],
        details=document["details"],
    )


@contextlib.contextmanager
def _without_debugging() -> Iterator[None]:
    """As a user runs it: faults become an exit code."""
    before = os.environ.pop("BAYPLAN_DEBUG", None)
    try:
        yield
    finally:
        if before is not None:
            os.environ["BAYPLAN_DEBUG"] = before


def write_input(case: Case, path: Path) -> None:
    """The file of a case in its native format."""
    if isinstance(case.value, Snapshot | ClusterRequests):
        bp.write(case.value, path)
    else:
        write_requests(path, case.value.requests, case.value.fleet)


def command(case: Case, folder: Path) -> list[str]:
    """The arguments of a case; writes the other files that they name into the folder."""
    verb = "pack" if case.verb == "machines_needed" else case.verb
    arguments = [verb, str(folder / "input.json"), "--seed", str(case.seed % 100)]
    arguments += ["--machines-needed"] if case.verb == "machines_needed" else ["--method", case.method]
    arguments += ["--seconds", "0.3"]
    if verb not in ("migrate", "admit", "pack"):
        arguments += ["--threads", str(case.threads)]
    if case.target is not None:
        named = {name: machine for name, machine in case.target.items() if machine is not None}  # null would say: delete it
        (folder / "target.json").write_text(json.dumps({"placement": named}))
        arguments += ["--to", str(folder / "target.json")]
    for name, value in case.options.items():
        arguments += _option(verb, name, value, folder)
    return arguments


def _option(verb: str, name: str, value: Any, folder: Path) -> list[str]:
    """One keyword of the library as options of the command line."""
    word = "--" + NAMES.get(name, name).replace("_", "-") if not (verb == "schedule" and name == "weights") else "--weights"
    if verb == "schedule" and name == "bound":
        return [] if value else ["--no-bound"]
    if name == "stopovers":
        return [] if value else ["--no-stopovers"]
    if name == "limits":
        words = {"batch": "--max-steps", "machine": "--max-per-machine", "service": "--max-per-service"}
        return [text for kind, limit in value.items() for text in (words[kind], str(limit))]
    if name == "samples" and verb == "pack":
        (folder / "samples.json").write_text(json.dumps({"samples": value}))
        return [word, str(folder / "samples.json")]
    if name == "safety" and isinstance(value, bool):
        return [] if value else ["--ignore-safety"]
    if name in FLAGS:
        return [word] if value else []
    if isinstance(value, Mapping):
        return [text for key, number in value.items() for text in (word, f"{key}={number!r}")]
    if isinstance(value, list):
        return [text for entry in value for text in (word, str(entry))]
    return [word, str(value)]


def _read_back(case: Case, path: Path, out: Path) -> Any:
    """What the command wrote."""
    if case.verb == "schedule":
        return read_served(out, case.value.requests)
    if case.verb == "admit":
        return read_accepted(out, case.value)
    if case.verb == "migrate":
        _, plan = read_plan_of(out, read_target(path.parent / "target.json", bp.read(path)).snapshot)
        return plan
    return read_placement(out, case.value.cluster)
