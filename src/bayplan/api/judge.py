"""Judge an answer that somebody has written down: who is accepted where."""

from dataclasses import dataclass
from pathlib import Path

from bayplan.check import Violation, check_admission
from bayplan.formats import read_accepted
from bayplan.formats.streams import read_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer's scores, and every rule that it breaks."""

    name: str
    score: dict[str, float]
    violations: tuple[Violation, ...]
    skipped: int = 0  # requests of the input that were left out because of their faults


def judge_accepted(file: Path, answer: Path, zones: Path | None = None) -> Judged:
    """What the referee says about an answer of `admit`. Requests with faults are left out: nobody can have let them in."""
    stream = read_stream(file, zones=zones, keep_going=True)
    requests = stream.admission.requests
    acceptance = read_accepted(answer, stream.admission)
    accepted = acceptance.accepted.tolist()
    return Judged(
        name=file.name,
        score={"value": sum(requests[i].value for i in accepted), "served": len(accepted) / max(1, len(requests))},
        violations=check_admission(stream.admission, acceptance),
        skipped=stream.skipped,
    )
