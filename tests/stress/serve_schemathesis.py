"""Every path of the service under requests that schemathesis draws from its OpenAPI document, also one after the other by links.

    python -m tests.stress.serve_schemathesis --requests 10000 --out tests/stress/served/schemathesis.txt

It draws requests that keep the document and requests that break it. A run fails at an answer of 5xx, at one that the document
does not describe, at a broken request that is accepted, and at a right one that is refused, but for the reasons in
`CONFIGURATION`. One pass after the other, with another seed, until there were as many requests as were asked for.
`HOOKS` puts files that can be read, snapshots and jobs that are there, into requests that keep the document: drawn at random,
hardly any job would ever start.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.builders.served import serving

import bayplan as bp
from bayplan.serve.settings import Limits, ServeSettings

LIMITS = Limits(job_seconds=0.3, job_threads=1, jobs=2, waiting_jobs=50, rate=1e6)  # jobs are short: it is about the paths
# What a file holds and what options mean together no schema says: such requests keep the document, and are refused with a number.
# A job that was just started has no file yet, and not every verb has every file.
CONFIGURATION = """
hooks = "hooks.py"
[checks]
positive_data_acceptance.expected-statuses = [200, 201, 202, 204, 400, 401, 404, 409, 413, 422, 429]
[[operations]]
include-path-regex = "^/v1/jobs/.job./(plan|report|result|incumbent)$"
checks.ensure_resource_availability.enabled = false
"""
HOOKS = """
import json
import os

import schemathesis
from schemathesis import GenerationMode

KNOWN = json.loads(os.environ["KNOWN"])
SENT = set(KNOWN["snapshots"].values())


@schemathesis.hook
def before_call(context, case, kwargs):
    drawn_right = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if not drawn_right or case.operation.method.upper() != "POST":
        return
    if case.operation.path == "/v1/snapshots":
        cluster = json.loads(KNOWN["cluster"])
        cluster["workloads"][0]["replicas"] = len(str(case.body)) % 7
        case.body, case.media_type, case.query = cluster, "application/json", {}
    if case.operation.path == "/v1/jobs" and isinstance(case.body, dict) and case.body.get("snapshot") not in SENT:
        kind = {"schedule": "requests", "sweep": "requests", "admit": "stream"}.get(case.body.get("verb"), "cluster")
        case.body = {**case.body, "snapshot": KNOWN["snapshots"][kind]}
    if case.operation.path == "/v1/loop/plans" and isinstance(case.body, dict):
        case.body = {**case.body, "job": KNOWN["job"]}


@schemathesis.hook
def after_call(context, case, response):
    if case.operation.path == "/v1/snapshots" and response.status_code in (200, 201) and case.operation.method.upper() == "POST":
        SENT.add(response.json()["id"])
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
CLUSTER = {
    "bayplan": 1,
    "resources": {"cpu": {}},
    "machines": [{"name": "m-0", "capacity": {"cpu": 4}}, {"name": "m-1", "capacity": {"cpu": 4}}],
    "workloads": [{"name": "web", "replicas": 2, "request": {"cpu": 1}}],
}
CASES = re.compile(r"^  (\d+) generated.*$", re.MULTILINE)


@dataclass(slots=True)
class Passed:
    """What passes over the document came to."""

    requests: int = 0
    cases: int = 0
    failed: int = 0  # passes
    statuses: Counter[str] = field(default_factory=Counter)  # by their first digit
    by_status: Counter[int] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)  # the summaries of passes
    errors: list[str] = field(default_factory=list)  # of the service
    jobs: Counter[str] = field(default_factory=Counter)  # by their state
    died: list[str] = field(default_factory=list)  # jobs whose process ended without an answer


def one_pass(seed: int, examples: int, phases: str, total: Passed) -> None:
    """One pass with a service of its own."""
    log: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schemathesis.toml").write_text(CONFIGURATION)
        (folder / "hooks.py").write_text(HOOKS)
        record = _record_of_a_loop(folder)
        settings = ServeSettings(port=0, store=str(folder / "serve.db"), folder=folder / "files", record=record, limits=LIMITS)
        with serving(settings, log) as address:
            client = bp.Client(address.url)
            shop = client.send(bp.generate("boutique"))
            job = client.plan(shop, seconds=0.2).wait()  # something that can be looked at, and handed to the loop
            requests, stream = client.send(EXAMPLES / "requests.json"), client.send(EXAMPLES / "admission.json")
            snapshots = {"cluster": shop.id, "requests": requests.id, "stream": stream.id}
            known = json.dumps({"snapshots": snapshots, "cluster": json.dumps(CLUSTER), "job": job.id})
            printed = _schemathesis(address.url, seed, examples, phases, folder, known)
            for job in client.jobs(limit=1000):
                total.jobs[job.state] += 1
                if (job.document["failure"] or {}).get("code") in ("E2744", "E2746"):
                    total.died.append(json.dumps({name: job.document[name] for name in ("verb", "options", "failure")}))
    answered = [line for line in log if line["event"] == "request"]
    total.requests += len(answered)
    total.by_status.update(line["status"] for line in answered)
    total.statuses.update(f"{line['status'] // 100}xx" for line in answered)
    total.errors += [line["error"] for line in log if line["event"] == "failed"]
    total.failed += printed.returncode != 0
    cases = CASES.search(printed.stdout)
    total.cases += int(cases[1]) if cases else 0
    total.texts.append(f"pass with seed {seed}: {cases[0].strip() if cases else 'no cases'}")
    if printed.returncode:
        total.texts.append(printed.stdout[-20_000:] + printed.stderr[-2_000:])


def _record_of_a_loop(folder: Path) -> str:
    """The record of a loop that has seen a shop and proposes a plan."""
    record = str(folder / "loop.db")
    settings = bp.LoopSettings(mode="approve", budget=bp.Budget(iterations=20_000), min_gain=0.0)
    bp.run(bp.generate("boutique"), turns=1, churn="quiet", settings=settings, store=record)
    return record


def _schemathesis(url: str, seed: int, examples: int, phases: str, folder: Path, known: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", f"--phases={phases}"]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--generation-database", "none", "--no-color"]
    # A head that is refused closes the connection before the body was read, and the answer may be lost: it is asked for again.
    command += [
        "--request-retries",
        "3",
        "--request-timeout",
        "30",
        "--continue-on-failure",
        "--warnings",
        "off",
        "--suppress-health-check",
        "all",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"KNOWN": known}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def shown(total: Passed) -> str:
    """What passes came to, in a few lines."""
    from importlib.metadata import version

    lines = [
        f"schemathesis {version('schemathesis')}, bayplan {bp.__version__}",
        f"{total.requests:,} requests, {total.cases:,} cases, {total.failed} passes with a failure, {len(total.errors)} errors",
        "answers: " + ", ".join(f"{status} {count:,}" for status, count in sorted(total.by_status.items())),
        "jobs: " + ", ".join(f"{state} {count:,}" for state, count in sorted(total.jobs.items())),
        f"jobs whose process ended without an answer: {len(total.died)}",
        *total.texts,
        *total.errors,
        *total.died,
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Pass after pass; the exit code is 1 if any of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--examples", type=int, default=25, help="drawn for each path in one pass")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    total, seed = Passed(), 1
    while total.requests < asked.requests:
        one_pass(seed, asked.examples, asked.phases, total)
        seed += 1
        print(shown(total), flush=True)
        if asked.out is not None:
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            asked.out.write_text(shown(total))
    return 1 if total.failed or total.errors or total.died or total.statuses["5xx"] else 0


if __name__ == "__main__":
    sys.exit(main())
