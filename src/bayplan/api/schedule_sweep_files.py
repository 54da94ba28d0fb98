"""Files of sweeps: written after every answer, read to go on."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bayplan.api.schedule_sweeper import Sweeper
from bayplan.api.schedule_wishes import ScheduleQuestion
from bayplan.errors import UsageError
from bayplan.formats.document.text import read_document, write_text_atomically
from bayplan.report.answers.sweep_tables import SweepPoint


def _asked(question: ScheduleQuestion, method: str, seed: int) -> dict[str, Any]:
    """What a sweep is of: points of another one cannot be mixed in."""
    requests = question.problem.requests
    capacity = {resource.name: int(has) for resource, has in zip(requests.resources, requests.capacity, strict=True)}
    work = float((requests.end - requests.start) @ requests.demand.sum(axis=1)) if len(requests.name) else 0.0
    return {
        "requests": len(requests.name),
        "value": float(requests.value.sum()),
        "work": work,
        "capacity": capacity,
        "method": method,
        "seed": seed,
    }


def sweep_text(question: ScheduleQuestion, method: str, seed: int, points: Sequence[SweepPoint]) -> str:
    """The file that `resumed` reads."""
    rows = ",\n  ".join(json.dumps(asdict(point)) for point in sorted(points, key=lambda point: point.machines))
    return f'{{\n "sweep_of": {json.dumps(_asked(question, method, seed))},\n "sweep": [\n  {rows}\n ]\n}}\n'


def save(sweeper: Sweeper, out: Path) -> None:
    """Write what is known: `resumed` reads it back."""
    write_text_atomically(out, sweep_text(sweeper.question, sweeper.method, sweeper.seed, sweeper.points))


def resumed(path: Path, question: ScheduleQuestion, method: str, seed: int) -> dict[int, SweepPoint]:
    """The points of an earlier sweep of the same question; UsageError if it is of another."""
    document = read_document(path)
    if not isinstance(document, dict) or document.keys() != {"sweep_of", "sweep"}:
        raise UsageError(f"--resume '{path}' is no sweep; expected what --sweep wrote with --out")
    asked = _asked(question, method, seed)
    if document["sweep_of"] != asked:
        other = document["sweep_of"] if isinstance(document["sweep_of"], dict) else {}
        differs = [name for name in asked if other.get(name) != asked[name]]
        raise UsageError(
            f"--resume '{path}' is a sweep of something else ({', '.join(differs)} differ); expected the same question"
        )
    try:
        points = [SweepPoint(**row) for row in document["sweep"]]
    except TypeError:
        raise UsageError(f"--resume '{path}' is no sweep; expected what --sweep wrote with --out") from None
    return {point.machines: point for point in points}
