"""Rewrite the pages and pictures that are made from code and from measured results: `make docs`.

`python -m docs.generate --all` also draws the pictures that a method has to run for.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from bayplan.cli.reference import cli_page
from bayplan.generate.boutique import boutique
from bayplan.model import TimedRequests
from bayplan.report.errors_page import errors_page
from bayplan.report.pictures import bay_plan, gantt, heat_map, traffic_bars, utilisation_cdf

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results.csv"
START = DOCS.parent / "benchmarks" / "start.csv"
KERNEL = DOCS.parent / "benchmarks" / "kernel.csv"
ADMIT = DOCS.parent / "benchmarks" / "admit.csv"
SCHEDULE = DOCS.parent / "benchmarks" / "schedule.csv"
LARGE = DOCS.parent / "benchmarks" / "large.csv"
PERFORMANCE = DOCS.parent / "benchmarks" / "performance.csv"
READING = DOCS.parent / "benchmarks" / "reading.csv"
REPORT_PAGE = DOCS.parent / "benchmarks" / "report_page.csv"
RECORD = DOCS.parent / "benchmarks" / "record.csv"
EXTENDER = DOCS.parent / "benchmarks" / "extender.csv"
SERVE = DOCS.parent / "benchmarks" / "serve.csv"
SERVE_KILLS = DOCS.parent / "tests" / "stress" / "serve_kills.csv"
SERVE_PAGE = DOCS.parent / "benchmarks" / "serve_page.csv"


def benchmarks_page() -> str:
    """The newest measurement of each name, from `benchmarks/results.csv`."""
    with RESULTS.open(encoding="utf-8") as file:
        newest = {row["name"]: row for row in csv.DictReader(file)}
    lines = [
        "# How fast it is",
        "",
        "Made by `make docs` from `benchmarks/results.csv`, which `make bench` appends to.",
        "*Ratio* is to the first line, measured in the same run: it carries over to other machines, seconds do not.",
        "Peak memory is that of the whole process.",
        "",
        "| what | seconds | peak MB | ratio | commit | machine |",
        "|---|---|---|---|---|---|",
    ]
    columns = ("name", "seconds", "peak_mb", "ratio", "commit", "machine")
    lines += ["| " + " | ".join(row[column] for column in columns) + " |" for row in newest.values()]
    measured = (
        _start_lines,
        _kernel_lines,
        _schedule_lines,
        _admit_lines,
        _large_lines,
        _performance_lines,
        _reading_lines,
        _page_lines,
        _service_page_lines,
        _record_lines,
        _extender_lines,
        _serve_lines,
        _kill_lines,
    )
    return "\n".join([*lines, *(line for made in measured for line in made())]) + "\n"


def _newest(path: Path, *keys: str) -> dict[tuple[str, ...], dict[str, str]]:
    """The newest row of a table for each value of its keys; nothing if it was not measured."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as file:
        return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


def _start_lines() -> list[str]:
    """The first command on a machine, from `benchmarks/start.csv`; nothing if it was not measured."""
    newest = _newest(START, "start", "command")
    if not newest:
        return []
    lines = [
        "",
        "## The first command",
        "",
        "`python -m benchmarks.start`: processor seconds of whole commands on one core, in a process of their own, with an empty",
        "HOME: in a clone where nothing is compiled, there again, and from the wheel with machine code. `place`, `rebalance` and",
        "`collocate` have the boutique, `pack` 10 services, `admit` 60 arrivals, `schedule` 2,000 requests, each with one second",
        "to search, which counts.",
        "",
        "| start | command | CPU s | wall s | kernels compiled | commit | machine |",
        "|---|---|---|---|---|---|---|",
    ]
    columns = ("start", "command", "cpu_seconds", "wall_seconds", "compiled", "commit", "machine")
    return [*lines, *("| " + " | ".join(row[column] for column in columns) + " |" for row in newest.values())]


def _kernel_lines() -> list[str]:
    """Moves a second, from `benchmarks/kernel.csv`; nothing if they were not measured."""
    newest = _newest(KERNEL, "name")
    if not newest:
        return []
    lines = [
        "",
        "## Moves a second",
        "",
        "2,513 machines, over 10,000 containers, every kind of rule; one thread. A move counts if its rules hold and its exact",
        "price was computed; what a rule forbids takes time but does not count. *Ratio*: to scoring the whole placement.",
        "",
        "| what | moves | seconds | a second | ratio | commit | machine |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [row["name"], f"{int(row['moves']):,}", row["seconds"], f"{int(row['per_second']):,}", row["ratio"] or "-"]
        lines.append("| " + " | ".join([*cells, row["commit"], row["machine"]]) + " |")
    return lines


def _schedule_lines() -> list[str]:
    """Up to a million timed requests, from `benchmarks/schedule.csv`; nothing if they were not measured."""
    newest = _newest(SCHEDULE, "method", "n", "machines", "load", "horizon")
    if not newest:
        return []
    lines = [
        "",
        "## Timed requests",
        "",
        "`python -m benchmarks.schedule`: requests of the generator `requests`, one thread, kernels warm, the whole method with",
        "the referee's check. The fastest of three runs. Peak memory is that of the whole process, the generator included.",
        "Processor seconds are the fair ones where others used the machine. 100,000 requests are too few for load 12 on 1,000",
        "machines over 5,612 seconds, even if each took a whole machine: theirs come within 1,000 seconds.",
        "",
        "| method | requests | machines | load | reached | served | CPU s | wall s | target | peak MB | commit | machine |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [row["method"], f"{int(row['n']):,}", f"{int(row['machines']):,}", row["load"], row["reached"]]
        cells += [f"{float(row['served']):.1%}", row["cpu_seconds"], row["wall_seconds"], row["limit"] or "-", row["peak_mb"]]
        lines.append("| " + " | ".join([*cells, row["commit"], row["machine"]]) + " |")
    shown = ["![time over the number of requests](pictures/schedule-time.svg)"]
    shown += ["", "![time over the number of requests and machines](pictures/schedule-time-machines.svg)"]
    return [*lines, "", *_growth(), "", *shown]


def _growth() -> list[str]:
    """How much more the largest of each series takes than the smallest, beside n log n."""
    from benchmarks.schedule import FIXED, n_log_n, series

    lines = []
    for fixed, words in ((True, f"On {FIXED} machines, time going on"), (False, "With 1,000 requests for each machine")):
        measured = series(fixed)
        low, high = (pick(n for times in measured.values() for n in times) for pick in (min, max))
        law = n_log_n(high) / n_log_n(low)
        found = [f"`{method}` at load {load} {times[high] / times[low]:.0f} times" for (method, load), times in measured.items()]
        lines += [f"{words}, from {low:,} to {high:,} requests n log n grows {law:.0f} times;"]
        lines += [f"processor seconds of {', '.join(found)}.", ""]
    return [*lines, "Where machines grow in number with the requests, each request is looked for on more of them."]


def _large_lines() -> list[str]:
    """Plans of very large clusters by stage, from `benchmarks/large.csv`; nothing if none was measured."""
    if not LARGE.is_file():
        return []
    with LARGE.open(encoding="utf-8") as file:
        newest = {(row["containers"], row["parts"]): row for row in csv.DictReader(file)}
    stages = {
        **{"containers": "containers", "machines": "machines", "parts": "parts", "load_s": "load", "check_s": "check"},
        **{"score_s": "score", "parts_s": "parts", "borders_s": "borders", "dropping_s": "dropping", "ordering_s": "ordering"},
        **{"explaining_s": "explaining", "wall_s": "all", "cpu_s": "processor"},
    }
    answer = {
        **{"containers": "containers", "peak_mb": "peak MB", "worker_peak_mb": "of a worker", "moves": "moves"},
        **{"local_before": "local before", "local_after": "after", "bound": "at most", "commit": "commit"},
    }
    return [
        "",
        "## Very large clusters",
        "",
        "`python -m benchmarks.large`: `plan --max-moves 2%` on clusters like RASA's M2, each in a fresh process, two workers.",
        "Seconds of wall time by stage, on a machine that may have other work; *processor* is that of all processes together.",
        "",
        *_columns(stages, newest.values()),
        "",
        "*Local* is the share of traffic that can stay on one machine; *at most* is proven for as many moves.",
        "",
        *_columns(answer, newest.values()),
    ]


def _columns(heads: Mapping[str, str], rows: Iterable[Mapping[str, str]]) -> list[str]:
    """A table of some columns of a CSV file."""
    body = ["| " + " | ".join(row[column] for column in heads) + " |" for row in rows]
    return ["| " + " | ".join(heads.values()) + " |", "|" + "---|" * len(heads), *body]


def _performance_lines() -> list[str]:
    """The performance model, from `benchmarks/performance.csv`; nothing if it was not measured."""
    newest = _newest(PERFORMANCE, "name")
    if not newest:
        return []
    lines = [
        "",
        "## The performance model",
        "",
        "`python -m benchmarks.performance`: the fastest of three fresh processes, without reading and without compiling.",
        "",
        "| what | seconds | requests a second | peak MB | commit | machine |",
        "|---|---|---|---|---|---|",
    ]
    columns = ("name", "seconds", "per_second", "peak_mb", "commit", "machine")
    return [*lines, *("| " + " | ".join(row[column] for column in columns) + " |" for row in newest.values())]


def _reading_lines() -> list[str]:
    """Large clusters, from `benchmarks/reading.csv`; nothing if they were not measured."""
    newest = _newest(READING, "containers", "file", "step")
    if not newest:
        return []
    lines = [
        "",
        "## Large clusters",
        "",
        "`python -m benchmarks.reading`: rasa-m2 scaled to 10^4, 10^5 and 10^6 containers, the cheapest of two fresh processes.",
        "Containers are numbered, or each has its name in the file. Loading pyarrow is part of reading Parquet. *Peak MB* is",
        "that of the whole process up to the end of the step, the cluster included. *Ratio*: to `json.loads` of the numbered",
        "JSON file. Targets for a million: read within 15 s and 2 GB, and read, score and check within 30 s.",
        "",
        "| containers | file | MB | step | CPU s | wall s | peak MB | ratio | commit | machine |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    columns = ("file", "file_mb", "step", "cpu_seconds", "wall_seconds", "peak_mb", "ratio", "commit", "machine")
    cells = ((f"{int(row['containers']):,}", *(row[column] or "-" for column in columns)) for row in newest.values())
    return [*lines, *("| " + " | ".join(row) + " |" for row in cells)]


def _page_lines() -> list[str]:
    """The page about a change at three sizes, from `benchmarks/report_page.csv`; nothing if it was not measured."""
    newest = _newest(REPORT_PAGE, "machines")
    if not newest:
        return []
    lines = [
        "",
        "## The page about a change",
        "",
        "`python -m benchmarks.report_page`: made in one process, then opened by Chromium from a file, the median of five times.",
        "*First paint*: something can be read. *Ready*: bay plans, table and timeline are drawn.",
        "",
        "| machines | containers | moves | kB | to make, s | first paint, ms | ready, ms | commit | machine |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [f"{int(row[name]):,}" for name in ("machines", "containers", "moves")] + [f"{int(row['bytes']) / 1000:,.0f}"]
        cells += [row[name] for name in ("seconds", "first_paint_ms", "ready_ms", "commit", "machine")]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _service_page_lines() -> list[str]:
    """Frames a second of the service's bay plan, from `benchmarks/serve_page.csv`; nothing if they were not measured."""
    newest = _newest(SERVE_PAGE, "machines", "action")
    if not newest:
        return []
    lines = [
        "",
        "## The page of the service",
        "",
        "`python -m benchmarks.serve_page`: the bay plan in Chromium without a graphics card, 60 frames a second at most. Before",
        "every frame the view changes, then all of it is drawn anew. *Ready*: from an empty window until the page is drawn, with",
        "the first reading of the cluster by the service. Other work shared the machine.",
        "",
        "| machines | containers | action | frames a second | to draw one, ms | 95 % within, ms | ready, s | commit | machine |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [f"{int(row[name]):,}" for name in ("machines", "containers")]
        cells += [row[name] for name in ("action", "frames_a_second", "draw_ms", "draw_p95_ms", "ready_s", "commit", "machine")]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _record_lines() -> list[str]:
    """Steps recorded a second, from `benchmarks/record.csv`; nothing if they were not measured."""
    newest = _newest(RECORD, "store", "batch")
    if not newest:
        return []
    lines = [
        "",
        "## The record",
        "",
        "`python -m benchmarks.record`: steps that are written down before they are sent and after they are done, two",
        "transactions for each batch, on the disk when acknowledged; one process. *Ratio*: to lines of JSON in a plain",
        "file that is synchronised twice for each batch, in the same run. The median of fifteen runs. How long a disk takes to",
        "synchronise differs tenfold with what else it does: other work shared it here.",
        "",
        "| store | steps in a batch | steps a second | ms for a batch | ratio | commit | machine |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [
            row["store"],
            row["batch"],
            f"{int(row['per_second']):,}",
            row["batch_ms"],
            row["ratio"],
            row["commit"],
            row["machine"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _extender_lines() -> list[str]:
    """Answers to kube-scheduler, from `benchmarks/extender.csv`; nothing if they were not measured."""
    newest = _newest(EXTENDER, "nodes", "form", "verb")
    if not newest:
        return []
    lines = [
        "",
        "## The scheduler extender",
        "",
        "`python -m benchmarks.extender`: questions of a scheduler over HTTP on one connection, ten pods run on each node.",
        "*Node names*: `nodeCacheCapable: true`; *whole nodes*: false. Processor time is of client and server together; other",
        "work shared the two cores, so the times on the clock are several times those of a machine that is free.",
        "",
        "| nodes | form | verb | p50, ms | p99, ms | CPU ms | commit | machine |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [f"{int(row['nodes']):,}", *(row[name] for name in ("form", "verb", "p50_ms", "p99_ms", "cpu_ms"))]
        lines.append("| " + " | ".join([*cells, row["commit"], row["machine"]]) + " |")
    return lines


def _serve_lines() -> list[str]:
    """Durable offers a second, from `benchmarks/serve.csv`: the newest run of each length."""
    with SERVE.open(encoding="utf-8") as file:
        measured = list(csv.DictReader(file))
    newest = {(row["name"], row["method"], int(row["offers"]) + int(row["refused"])): row for row in measured}
    lines = [
        "",
        "## Durable offers over HTTP",
        "",
        "`python -m benchmarks.serve`: 9 zones, 5 members. The service in a process of its own, its clients in another, each",
        "with one offer at a time; a verdict is in the store when it is answered. *Bare object*: the same offers to the object",
        "in one process. *Overload*: ten times the clients. *Processor*: seconds of the service, its start included. *Memory*:",
        "of the service after a tenth of the offers, and at the end. The aim is 1,000 verdicts a second with a p99 below 50 ms",
        "for 32 clients. Both cores were free for these runs; beside other work that fills them it is a third of that.",
        "",
        "| what | method | clients | verdicts | 429 | other | a second | p50 ms | p99 ms | processor s | memory MB | commit |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [row["name"], row["method"], row["clients"], f"{int(row['offers']):,}", f"{int(row['refused']):,}", row["other"]]
        memory = f"{row['early_mb']} to {row['end_mb']}" if row["end_mb"] else "-"
        cells += [f"{int(row['per_second']):,}", row["p50_ms"], row["p99_ms"], row["cpu_seconds"] or "-", memory, row["commit"]]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _kill_lines() -> list[str]:
    """Kills of the service, from `tests/stress/serve_kills.csv`; nothing if there were none."""
    with SERVE_KILLS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "",
        "## Kills of the service",
        "",
        "`python -m tests.stress.serve_kills`: killed (-9) at random moments under the load of eight clients, and started again",
        "on the same store. *Lost*, *changed*: acknowledged answers that the log does not have, or has otherwise. *Twice*:",
        "offers with two verdicts. *Violations*: of capacity, by the referee. *Different*: outcomes to which an object that was",
        "never interrupted does not come.",
        "",
        "| store | kills | changes in the logs | lost | changed | twice | violations | different |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for database in dict.fromkeys(row["database"] for row in rows):
        kills = [row for row in rows if row["database"] == database]
        logged = sum(
            max(int(row["log"]) for row in kills if row["method"] == method) for method in {row["method"] for row in kills}
        )
        counts = [sum(int(row[name]) for row in kills) for name in ("lost", "changed", "twice", "violations", "differs")]
        lines.append("| " + " | ".join([database, *(f"{number:,}" for number in (len(kills), logged, *counts))]) + " |")
    return lines


def _admit_lines() -> list[str]:
    """Offers a second, from `benchmarks/admit.csv`; nothing if they were not measured."""
    newest = _newest(ADMIT, "name")
    if not newest:
        return []
    lines = [
        "",
        "## Offers to a live admission",
        "",
        "`python -m benchmarks.admit`: 42 zones with all links, 3 resources, 8 members, requests of up to 100 slots, 500 of them",
        "in each 100 slots, one thread; prices, placement and update included. *p99* is of one offer, of wall time; beside it of",
        "processor time, the fair one where others used the machine. *Ratio*: offers a second to those of the first line.",
        f"Measured on {' and '.join(dict.fromkeys(row['machine'] for row in newest.values()))}.",
        "",
        "| what | offers | wall s | processor s | a second | p50 ms | p99 ms | processor | ratio | target | commit |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [row["name"], f"{int(row['offers']):,}", row["seconds"], row["cpu_seconds"] or "-", f"{int(row['per_second']):,}"]
        cells += [row["p50_ms"], row["p99_ms"], row["cpu_p99_ms"] or "-", row["ratio"], row["limit"] or "-"]
        lines.append("| " + " | ".join([*cells, row["commit"]]) + " |")
    return lines


def evidence_page() -> str:
    """Every claim of the papers with its verdict, from the results in `experiments/`."""
    from experiments.evidence.page import page

    return page()


def published_schemas() -> dict[str, str]:
    """Every JSON Schema that a reader walks, by its path in `docs/`."""
    from bayplan.formats.document import schemas
    from bayplan.formats.native import PLACEMENT, SNAPSHOT

    made = {"snapshot": SNAPSHOT, "placement": PLACEMENT}
    texts = {name: json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}
    texts |= {path.stem: path.read_text(encoding="utf-8") for path in (Path(schemas.__file__).parent / "schema").glob("*.json")}
    return {f"schema/{name}.json": text for name, text in sorted(texts.items())}


def schema_page() -> str:
    """Every published JSON Schema, as the readers walk it."""
    lines = ["# JSON Schemas", "", "Made by `make docs`: the very schemas that the readers check files against.", ""]
    for path in published_schemas():
        lines += [f"## {Path(path).stem}", "", f"[{path}]({path})", ""]
        lines += [f"```{{literalinclude}} {path}", ":language: json", "```", ""]
    return "\n".join(lines)


def _shop(picture: Callable[..., str], **options: str) -> Callable[[], str]:
    """A picture of the demo shop."""
    shop = boutique()
    return lambda: picture(shop.cluster, shop.placement, **options)


def _failures() -> str:
    """What happens to the shop if a machine, a rack or a zone fails."""
    import bayplan as bp
    from bayplan.report.pictures import failure_picture

    shop = boutique()
    answer = bp.capacity(shop)
    resources = [resource.name for resource in shop.cluster.resources]
    return failure_picture(answer.worst_first, shop.cluster.machines.name, resources, title="boutique: what may fail?")


def _overview() -> str:
    from bayplan.generate.rasa import rasa_m2

    large = rasa_m2()
    return bay_plan(large.cluster, large.placement)


def _plan() -> str:
    """The order of moves that the demo finds."""
    import bayplan as bp
    from bayplan.report.pictures.step_bars import step_bars
    from bayplan.score.duration import StepCosts

    shop, budget = boutique(), bp.Budget(iterations=50_000)
    moved = bp.rebalance(bp.place(shop, budget=budget).after, budget=budget)
    answer = bp.migrate(shop, moved.placement, alive=0.6, delete_missing=True, budget=bp.Budget(iterations=4))
    assert answer.plan is not None and answer.timetable is not None
    return gantt(shop.cluster, step_bars(shop.cluster, answer.plan, answer.timetable, StepCosts()))


def _together() -> str:
    """What stays on one machine when the shop is collocated."""
    import bayplan as bp
    from bayplan.report.change_page.affinity_graph import graph_picture

    shop, budget = boutique(), bp.Budget(iterations=50_000)
    placed = bp.place(shop, method="ca-wfd").after
    answer = bp.collocate(placed, budget=budget, engine="here")
    return graph_picture(shop.cluster, placed.placement, answer.placement)


def _packings() -> str:
    """The services of [UCaC] Table 5 packed three ways."""
    from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
    from bayplan.generate.ucac import ucac
    from bayplan.model import Budget, silent
    from bayplan.report.pictures import UcacCurve, ucac_curves
    from bayplan.score.packing import strictest_ucac

    snapshot = ucac()
    problem, curves = pack_problem(snapshot.cluster, snapshot.placement), []
    for name in ("bi-level", "bf-ucac", "bf-nsigma"):
        result = PACKERS[name](problem, PackOptions(), budget=Budget(), seed=0, progress=silent)
        assert result.solution is not None
        used = strictest_ucac(problem.cluster, result.solution, problem.main) / problem.main.capacity
        curves.append(UcacCurve(name=name, share=used[used > 0]))
    return ucac_curves(curves, title="17 services, used capacity at 99.9 %")


def _requests_over_time() -> str:
    """What is requested and served of generated requests, by Cradle+."""
    import bayplan as bp
    from bayplan.report.answers.schedule_page import load_rows
    from bayplan.report.pictures.served import timed_load

    answer = bp.schedule(_day(), machines=20, budget=bp.Budget(seconds=2.0))
    return timed_load(list(load_rows(answer.page_data())), title="requests: load over time")


def _sweep() -> str:
    """What each number of machines is good for, for the same requests."""
    from bayplan.api.requests.sweep import sweep_machines
    from bayplan.model import Budget
    from bayplan.report.pictures.sweep import value_curve

    day = _day()
    answer = sweep_machines(day, range(5, 81, 5), budget=Budget())
    return value_curve(answer.points, requested=float(day.value.sum()))


def performance_page() -> str:
    """The page about the performance model, with its table of assumptions made from their fields."""
    from dataclasses import fields

    from bayplan.score.performance import Assumptions

    text = (DOCS / "verbs" / "performance.md").read_text(encoding="utf-8")
    start, end = "<!-- assumptions: generated -->\n", "<!-- assumptions: end -->"
    told = ((known, known.metadata) for known in fields(Assumptions))
    rows = (
        f"| `{known.name}` | {known.default} | {' '.join(filter(None, (of['unit'], of['about'])))} | {of['source']} |\n"
        for known, of in told
    )
    head = "| assumption | default | what it is | where the default comes from |\n|---|---|---|---|\n"
    return text.partition(start)[0] + start + head + "".join(rows) + end + text.partition(end)[2]


def _day() -> TimedRequests:
    from bayplan.generate.requests import requests

    return requests(n=5000, machines=20, load=3.0)


def _prices() -> str:
    """What capacity costs while a stream is admitted."""
    import bayplan as bp
    from bayplan.report.pictures.prices import prices_over_time

    stream = bp.generate("container-clusters")
    data = bp.admit(stream, method="primal-dual", value_ratio=50.0, alpha=2.0, budget=bp.Budget()).page_data()
    return prices_over_time(data.bands, data.edge, base=data.base, title="What capacity costs over time")


PAGES: Mapping[str, Callable[[], str]] = {
    "errors.md": errors_page,
    "cli.md": cli_page,
    "schema.md": schema_page,
    "benchmarks.md": benchmarks_page,
    "evidence.md": evidence_page,
    "verbs/performance.md": performance_page,
    "pictures/bay-plan-boutique.svg": _shop(bay_plan, group_by="zone"),
    "pictures/cdf-boutique.svg": _shop(utilisation_cdf),
    "pictures/heat-map-boutique.svg": _shop(heat_map),
    "pictures/traffic-boutique.svg": _shop(traffic_bars),
    "pictures/failures-boutique.svg": _failures,
}
SLOW_PAGES: Mapping[str, Callable[[], str]] = {  # or those that change with every change of a method
    "pictures/overview-rasa-m2.svg": _overview,
    "pictures/gantt-boutique.svg": _plan,
    "pictures/ucac-methods.svg": _packings,
    "pictures/affinity-boutique.svg": _together,
    "pictures/prices-clusters.svg": _prices,
    "pictures/schedule-load.svg": _requests_over_time,
    "pictures/schedule-sweep.svg": _sweep,
}


def main() -> None:
    """Write every page that differs; with `--all` also the pictures that take methods to make."""
    schemas = {name: partial(str, text) for name, text in published_schemas().items()}
    for name, page in {**schemas, **PAGES, **(SLOW_PAGES if "--all" in sys.argv[1:] else {})}.items():
        path, text = DOCS / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
