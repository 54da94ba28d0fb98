"""What a job has made, to be downloaded: its answer, its page, its plan; of one that was cut short, the best so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.errors import Fault, InputError
from bayplan.report.json import to_json
from bayplan.serve.jobs.incumbent_file import INCUMBENT, read_incumbent
from bayplan.serve.jobs.queue import JobQueue
from bayplan.serve.jobs.worker import PLAN, REPORT, RESULT
from bayplan.serve.store.jobs import StoredJob

JSON, TEXT, HTML = "application/json", "text/plain", "text/html"
FILES: Mapping[str, str] = {"result": RESULT, "report": REPORT, "plan": PLAN, "incumbent": INCUMBENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file, or the text of one."""

    media_type: str
    path: Path | None = None
    content: str = ""
    name: str = ""  # under which a browser saves it
    shown: str = "inline"  # or attachment


def download(queue: JobQueue, name: str, kind: str) -> Download:
    """A file of a job; InputError if it has none, or none yet."""
    job, folder = queue.find(name), queue.folder(name)
    if kind != "incumbent":
        if not job.state.ended:
            raise InputError("job", [_fault("E2743", job, "has not ended", "a job that has ended")])
        if (folder / FILES[kind]).exists():
            return _file(folder / FILES[kind], job, kind)
    incumbent = None if kind == "report" else read_incumbent(folder)
    if incumbent is not None:
        return _of_incumbent(incumbent, kind)
    raise InputError("job", [_fault("E2738", job, f"has no {kind}", _why(job, kind))])


def _file(path: Path, job: StoredJob, kind: str) -> Download:
    if kind != "plan":
        return Download(media_type=HTML if kind == "report" else JSON, path=path)
    with path.open("rb") as file:
        is_json = file.read(1) in b"{["
    suffix = "json" if is_json else "txt"
    return Download(media_type=JSON if is_json else TEXT, path=path, name=f"{job.verb}-{job.id}.{suffix}", shown="attachment")


def _of_incumbent(incumbent: Mapping[str, Any], kind: str) -> Download:
    """The best so far: all of it, or in the form of an answer or of a plan."""
    parts = {"incumbent": incumbent, "result": incumbent["result"], "plan": {"placement": incumbent["placement"]}}
    return Download(media_type=JSON, content=to_json(parts[kind]))


def _why(job: StoredJob, kind: str) -> str:
    if job.answer is not None:
        return f"one of {', '.join(sorted(kind for kind, name in FILES.items() if name in job.answer.get('files', ())))}"
    return f"a job that has an answer, or at least an incumbent; it is {job.state}"


def _fault(code: str, job: StoredJob, problem: str, expected: str) -> Fault:
    return Fault(code=code, kind="job", name=job.id, problem=problem, value=job.state.value, expected=expected)
