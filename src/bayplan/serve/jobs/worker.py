"""What runs in a worker process: one job, from its snapshot to the files of its answer.

The process reports its progress through a pipe, writes down each better incumbent, and ends with the best so far when it gets
SIGINT, as a command does on Ctrl-C. If the server dies, it ends at once: what it has written down is what is left.
"""

import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from bayplan.codes import CODES
from bayplan.errors import BayplanError, Fault, InputError, WorldError
from bayplan.serve.jobs.incumbents import IncumbentWriter, ProgressReport
from bayplan.serve.jobs.processes import limit_memory
from bayplan.serve.jobs.reading import CONTENT, facts_of, read_content
from bayplan.serve.jobs.verbs import VERBS, OptionLimits, options_of, read_options, with_limits
from bayplan.serve.settings import Limits

RESULT, REPORT, PLAN = "result.json", "report.html", "plan"
FAULT = ("code", "kind", "name", "problem", "value", "expected", "where")
MOST_FAULTS, LONGEST = 100, 1_000  # faults, and letters of an error that was not expected
UNEXPECTED, UNREAD, NO_ANSWER = "E2746", "E2742", "E2744"
NICE = 5  # the server goes first


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTask:
    """A job as its process gets it."""

    job: str
    verb: str
    options: Mapping[str, Any]  # as the request states them
    snapshot: Path  # the folder that holds it
    others: Mapping[str, Path] = field(default_factory=dict)  # id -> folder, of snapshots that options name
    folder: Path  # for its files
    limits: OptionLimits
    memory: int = Limits().job_memory  # bytes that the process may take


def read_facts(folder: Path, memory: int, pipe: Connection) -> None:
    """Say what a snapshot holds, or what is wrong with it."""
    _begin(memory)
    try:
        pipe.send(("facts", dict(facts_of(read_content(folder)))))
    except MemoryError as error:
        error.__traceback__ = None  # it holds what has taken the memory
        pipe.send(("failed", failure(InputError(CONTENT, [too_large(memory)]))))
    except Exception as error:
        pipe.send(("failed", failure(error)))
        if not isinstance(error, BayplanError):
            raise


def run_job(task: JobTask, pipe: Connection) -> None:
    """Run a job to its end."""
    from bayplan.model.interrupt import stoppable

    _begin(task.memory)
    lock = threading.Lock()

    def tell(kind: str, data: Mapping[str, Any]) -> None:
        with lock:
            pipe.send((kind, dict(data)))

    with stoppable():  # from here on a request to stop loses no answer
        try:
            tell("ended", _answered(task, tell))
        except MemoryError as error:
            error.__traceback__ = None  # it holds what has taken the memory
            tell("failed", failure(WorldError(_out_of_memory(task.memory))) | {"code": NO_ANSWER})
        except Exception as error:
            tell("failed", failure(error))
            if not isinstance(error, BayplanError):
                raise  # its trace goes to the log of the server


def _answered(task: JobTask, tell: Any) -> Mapping[str, Any]:
    """The answer of a job in its files; what there is to say about it in short."""
    verb, began = VERBS[task.verb], time.monotonic()
    value = read_content(task.snapshot)
    known = options_of(task.verb, task.limits)
    options = with_limits(known, read_options(task.verb, dict(task.options), task.limits), task.limits)
    options = _with_values(options, value, task)
    os.chdir(task.folder)
    if "threads" in known:  # it takes the keywords of a run, progress among them
        with ProgressReport(tell, IncumbentWriter(task.verb, value, options, tell)) as progress:
            answer = verb.call(value, progress=progress, **options)
    else:
        answer = verb.call(value, **options)
    return {**_written(answer, task), "seconds": round(time.monotonic() - began, 3)}


def _with_values(options: dict[str, Any], value: Any, task: JobTask) -> dict[str, Any]:
    """The options with placements and snapshots in place of what a request says for them."""
    from bayplan.formats.requests import RequestsFile

    values = dict(options)
    for name in ("target", "before"):
        stated = values.get(name)
        if isinstance(stated, dict):
            values[name] = _placement(stated, value, name)
        elif isinstance(stated, str) and stated in task.others:
            values[name] = read_content(task.others[stated])
    if values.get("forecast") in task.others:
        forecast = read_content(task.others[values["forecast"]])
        values["forecast"] = forecast.requests if isinstance(forecast, RequestsFile) else forecast
    return values


def _placement(stated: Mapping[str, str | None], snapshot: Any, name: str) -> Any:
    """A placement that an option states: of the target of a migration, or where containers ran before."""
    from bayplan.formats.files import placement_in
    from bayplan.formats.targets import target_in

    document = {"placement": dict(stated)}
    return target_in(document, snapshot, name) if name == "target" else placement_in(document, snapshot.cluster, name)


def _written(answer: Any, task: JobTask) -> Mapping[str, Any]:
    """Write the files of an answer: its JSON, its page, and what it saves; what there is to say about it."""
    from bayplan.formats.document.text import write_text_atomically
    from bayplan.report.json import explain_object, to_json

    content = answer.to_dict() if hasattr(answer, "to_dict") else explain_object(answer)
    there = VERBS[task.verb].has_files and getattr(getattr(answer, "result", None), "solution", answer) is not None
    files = [RESULT]
    if there and hasattr(answer, "save"):
        answer.save(PLAN)
        files.append(PLAN)
    if there and hasattr(answer, "report"):
        answer.report(REPORT, command=f"bayplan {task.verb} (job {task.job})")
        files.append(REPORT)
    write_text_atomically(RESULT, to_json(content))
    headline = getattr(answer, "headline", "")
    score = content.get("score")
    return {
        "headline": headline if isinstance(headline, str) else "",
        "status": content.get("status"),
        "score": score if isinstance(score, dict) else None,
        "interrupted": bool(content.get("interrupted")),
        "files": [name for name in files if Path(name).exists() or name == RESULT],
    }


def too_large(memory: int) -> Fault:
    """The fault of a file that takes more memory than a process that reads it may take."""
    expected = f"a file that is read in {memory:,} bytes of memory"
    return Fault(code=UNREAD, kind="file", name=CONTENT, problem="takes too much memory", expected=expected)


def _out_of_memory(memory: int) -> str:
    return f"{NO_ANSWER} job: its process needs more than {memory:,} bytes of memory; {CODES[NO_ANSWER].action}"


def failure(error: Exception) -> dict[str, Any]:
    """What went wrong, as a problem says it: in words, and the faults by number. What is not expected is a fault of bayplan."""
    faults = error.faults if isinstance(error, InputError) else ()
    expected = isinstance(error, BayplanError)
    code = faults[0].code if faults else getattr(error, "code", None) if expected else UNEXPECTED
    return {
        "kind": type(error).__name__,
        "detail": str(error) if expected else f"{UNEXPECTED} job: {type(error).__name__}: {error}"[:LONGEST],
        "code": code,
        "faults": [{name: getattr(fault, name) for name in FAULT} for fault in faults[:MOST_FAULTS]],
    }


def _begin(memory: int) -> None:
    """Set a worker process up: a session of its own, below the server in priority, limited in its memory, ended with it."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C in the terminal of the server is the server's
    os.nice(NICE)
    limit_memory(memory)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    server = parent_process()
    if server is not None:
        threading.Thread(target=_end_with, args=(server.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End as soon as the server has ended."""
    wait([sentinel])
    os._exit(1)
