"""The answer of a command: one JSON object or tables for people, on stdout or in a file."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bayplan.api.admit import Admitted
    from bayplan.api.collocate import Collocation
    from bayplan.api.decide import Decision
    from bayplan.api.inspect import Inspection
    from bayplan.api.judge import Judged
    from bayplan.api.migrate import Route
    from bayplan.api.pack import Packing
    from bayplan.api.tour import Stop
    from bayplan.operate.simulate import Run
    from bayplan.report.answers.decision_tables import AffinityGain
    from bayplan.report.table import Report
    from bayplan.score.explain import Explanation

FILE_WIDTH = 120  # columns of a table that goes to a file


def show(inspection: "Inspection", *, as_json: bool = False, out: Path | None = None) -> None:
    """The state of a cluster in numbers, and whether it is valid."""
    from bayplan.report import json
    from bayplan.report.answers.placement_tables import show_report

    if as_json:
        verdict = {"valid": not inspection.violations, "broken": len(inspection.violations)}
        say_object({**json.show_object(inspection.summary), **verdict}, out)
    else:
        say_report(show_report(inspection.summary, inspection.snapshot.cluster.resources, inspection.violations), out)


def check(inspection: "Inspection", *, as_json: bool = False, out: Path | None = None) -> None:
    """The verdict, and one sentence per broken rule, each on a line of its own."""
    from bayplan.report import json
    from bayplan.report.names import printable
    from bayplan.report.violations import verdict

    if as_json:
        say_object(json.check_object(inspection.summary, inspection.violations), out)
    else:
        lines = [verdict(inspection.violations), *map(str, inspection.violations)]
        _say("".join(f"{printable(line)}\n" for line in lines), out)


def judged(judged: "Judged", *, as_json: bool = False, out: Path | None = None) -> None:
    """The verdict on an answer with requests, its scores, and one sentence per broken rule."""
    from bayplan.report.amounts import score
    from bayplan.report.json import plain
    from bayplan.report.names import printable
    from bayplan.report.violations import verdict

    if as_json:
        answer = {"name": judged.name, "valid": not judged.violations, "broken": len(judged.violations), "score": judged.score}
        say_object({**answer, "violations": plain(judged.violations), "skipped": judged.skipped}, out)
        return
    scores = ", ".join(f"{name} {score(value)}" for name, value in judged.score.items())
    lines = [verdict(judged.violations), *(violation.sentence for violation in judged.violations), scores]
    _say("".join(f"{printable(line)}\n" for line in lines), out)


def explain(explanation: "Explanation", *, as_json: bool = False, out: Path | None = None) -> None:
    """Why a container is where it is."""
    from bayplan.report import json
    from bayplan.report.answers.explain_tables import explain_report

    if as_json:
        say_object(json.explain_object(explanation), out)
    else:
        say_report(explain_report(explanation), out)


def decision(decision: "Decision", *, method: str, seed: int, placed: int, wall: float, as_json: bool = False) -> None:
    """How a decision ended: scores, bound, counts, what is left out and why, and which rules stay broken."""

    from bayplan.report import json
    from bayplan.report.answers.decision_tables import decision_report

    result = decision.result
    if as_json:
        answer = json.decision_object(result, method=method, seed=seed, placed=placed, moved=decision.moved)
        say_object({**answer, "still_broken": decision.still_broken, "interrupted": decision.interrupted, "wall_seconds": wall})
        return
    counts = {"seed": seed, "placed": placed, "moved": decision.moved}
    say_report(decision_report(result, method=method, counts=counts, still_violated=decision.still_broken))


def collocation(collocation: "Collocation", *, method: str, seed: int, wall: float, as_json: bool = False) -> None:
    """How a collocation ended: affinity before and after, who moved, the bound, what is left out and why."""

    from bayplan.api.collocate import collocate_object
    from bayplan.report import json
    from bayplan.report.answers.decision_tables import collocate_report

    decision = collocation.decision
    result, placed, moved = decision.result, decision.placed, decision.moved
    if as_json:
        answer = json.decision_object(result, method=method, seed=seed, placed=placed, moved=moved)
        more = {"still_broken": decision.still_broken, "interrupted": decision.interrupted, "wall_seconds": wall}
        say_object({**answer, **collocate_object(collocation), **more})
        return
    counts = {"seed": seed, "placed": placed}
    gain, violated = _gain(collocation), decision.still_broken
    say_report(collocate_report(result, gain, method=method, counts=counts, notes=collocation.remarks, still_violated=violated))


def stop(stop: "Stop", *, seed: int) -> None:
    """A collocation in short: scores before beside after, whether they keep the rules, and the way there."""
    from bayplan.report.answers.decision_tables import MigrationOutline, collocate_outline

    collocation, route = stop.collocation, stop.route
    counts = {"batches": len(route.plan.batches), "steps": len(list(route.plan.steps()))} if route.plan else {}
    migration = MigrationOutline(
        counts=counts,
        safe=route.verdict is not None and route.verdict.safe,
        stuck=len(route.result.left_out),
        seconds=0.0 if route.timetable is None else route.timetable.seconds,
        alive=1.0 if route.verdict is None else route.verdict.least_alive,
    )
    scores = (stop.before.summary.score, stop.after.summary.score)
    say_report(collocate_outline(_gain(collocation), scores, stop.after.violations, migration, seed=seed))


def _gain(collocation: "Collocation") -> "AffinityGain":
    from bayplan.report.answers.decision_tables import AffinityGain

    return AffinityGain(
        before=collocation.before,
        after=collocation.after,
        moved=collocation.decision.moved,
        share=collocation.moved_share,
        stays=collocation.stays,
    )


def route(route: "Route", *, method: str, seed: int, wall: float, files: Mapping[str, str], as_json: bool = False) -> None:
    """A plan: scores, batches, who does not arrive and why, how long it may take, where it was written."""
    from bayplan.api.migrate_report import batch_rows
    from bayplan.report import json
    from bayplan.report.amounts import seconds
    from bayplan.report.answers.plan_tables import plan_report

    rows, estimate = batch_rows(route), None if route.timetable is None else route.timetable.seconds
    if as_json:
        answer = json.decision_object(route.result, method=method, seed=seed, placed=route.placed, moved=route.moved)
        more = {"complete": route.complete, "duration": estimate, "by_batch": rows, "files": files}
        say_object({**answer, **more, "interrupted": route.interrupted, "wall_seconds": wall})
        return
    counts: dict[str, int | str] = {"seed": seed, "placed": route.placed, "moved": route.moved}
    counts["duration"] = f"about {seconds(estimate or 0.0)}"
    say_report(plan_report(route.result, rows, method=method, counts=counts, files=files))


def packing(packing: "Packing", *, method: str, seed: int, wall: float, as_json: bool = False) -> None:
    """A packing: what it takes, how often machines overflow, what over-commitment buys, who is left out and why."""

    from bayplan.api.pack import pack_object
    from bayplan.report import json
    from bayplan.report.answers.pack_tables import pack_report

    new, result = packing.decision.new, packing.decision.result
    if as_json:
        answer = json.decision_object(result, method=method, seed=seed, placed=new, moved=packing.decision.moved)
        say_object({**answer, **pack_object(packing), "interrupted": packing.decision.interrupted, "wall_seconds": wall})
        return
    counts = {"seed": seed, "packed": new, "left out": packing.without}
    figures, levels, violated = packing.figures, packing.levels, packing.broken
    say_report(pack_report(result, figures, levels, method=method, counts=counts, violated=violated))


def needed(answer: Mapping[str, object], *, as_json: bool = False) -> None:
    """How many machines of which type are needed."""
    from bayplan.report.answers.pack_tables import needed_report

    if as_json:
        say_object(answer)
    else:
        say_report(needed_report(answer))


def admitted(admitted: "Admitted", *, method: str, seed: int, wall: float, as_json: bool = False) -> None:
    """An admission: value and winners, by which prices, how full it was, and why others were refused."""
    from bayplan.api.admit import admit_object
    from bayplan.api.admit_report import figures_of
    from bayplan.report import json
    from bayplan.report.answers.admit_tables import admit_report

    if as_json:
        answer = json.decision_object(admitted.result, method=method, seed=seed, placed=admitted.accepted)
        say_object({**answer, **admit_object(admitted), "interrupted": admitted.interrupted, "wall_seconds": wall})
    else:
        say_report(admit_report(admitted.result, figures_of(admitted, method), seed=seed))


def run(run: "Run", *, seed: int, as_json: bool = False) -> None:
    """What the referee says about a plan, and what became of it."""
    from bayplan.operate.simulate import run_object
    from bayplan.report.answers.plan_tables import run_report

    answer = {**run_object(run), "seed": seed}
    if as_json:
        say_object(answer)
    else:
        say_report(run_report(answer))


def say_object(answer: Mapping[str, object], out: Path | None = None) -> None:
    """One JSON object on one line."""
    from bayplan.report.json import to_json

    _say(f"{to_json(answer)}\n", out)


def say_report(report: "Report", out: Path | None = None) -> None:
    """Facts and tables for people."""
    from bayplan.report.terminal import rendered

    _say_tables(rendered(report), out)


def _say_tables(renderables: Iterable["RenderableType"], out: Path | None) -> None:
    from rich.console import Console

    console = Console() if out is None else Console(width=FILE_WIDTH, color_system=None)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable)
    _say(capture.get(), out)


def _say(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
    else:
        from bayplan.formats.document.text import write_text_atomically

        write_text_atomically(out, text)
