"""The tables of docs/scale.md."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median

from experiments.results import Row, measured_on, picked, table
from experiments.scale.laws import Law, Quantity
from experiments.scale.predict import Prediction, Validated

UNKNOWN = "-"


def short(value: float) -> str:
    """A number with three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def amount(value: float, unit: str) -> str:
    """A number with its unit; seconds above two minutes in larger ones."""
    if unit == "s" and value >= 120:
        return f"{value / 3600:.1f} h" if value >= 7200 else f"{value / 60:.1f} min"
    if unit == "MB" and value >= 1024:
        return f"{value / 1024:.1f} GB"
    return f"{short(value)} {unit}".strip()


def law_lines(quantities: Mapping[str, Quantity], laws: Mapping[str, Law]) -> list[str]:
    """A line for each law."""
    body = []
    for name, law in laws.items():
        unit, size = quantities[name].unit, f"{law.least:,.0f} to {law.most:,.0f}"
        interval = f"{law.exponent:.2f} ({law.low:.2f} to {law.high:.2f})"
        body.append([quantities[name].name, interval, str(law.points), size, *(amount(law.at(n), unit) for n in (1e4, 1e5, 1e6))])
    return table(("what", "exponent (95 %)", "points", "containers measured", "at 10^4", "at 10^5", "at 10^6"), body)


TIMES = {
    **{"series": "series", "containers": "containers", "parts": "parts", "load_s": "read", "check_s": "check"},
    **{"score_s": "score", "search_s": "search", "dropping_s": "drop", "ordering_s": "order", "explaining_s": "explain"},
    **{"wall_s": "wall", "cpu_s": "CPU"},
}
SIZES = {
    **{"series": "series", "containers": "containers", "machines": "machines", "peak_mb": "MB", "worker_peak_mb": "of a worker"},
    **{"jobs": "jobs", "messages": "messages", "bytes_sent": "MB sent", "bytes_received": "MB back", "moves": "moves"},
    **{"local_before": "local before", "local_after": "after", "violations": "violations"},
}


def measured_lines(laws: Sequence[Row], columns: Mapping[str, str]) -> list[str]:
    """What was measured, one line for each row, in some of its columns."""
    rows = sorted(laws, key=lambda row: (int(row["containers"]), row["series"], row["repetition"]))
    return table(list(columns.values()), ([_cell(name, row[name]) for name in columns] for row in rows))


def _cell(name: str, value: str) -> str:
    if name.startswith("bytes"):
        return f"{float(value) / 2**20:.2f}" if float(value) else UNKNOWN
    return f"{int(value):,}" if value.isdigit() else f"{float(value):.2f}" if name.endswith("_s") else value


def per_container_lines(laws: Sequence[Row]) -> list[str]:
    """Messages and bytes for each container and machine, where parts were sent."""
    body = []
    for row in sorted((row for row in laws if int(row["jobs"])), key=lambda row: int(row["containers"])):
        n, m = int(row["containers"]), int(row["machines"])
        sent, back = float(row["bytes_sent"]), float(row["bytes_received"])
        body.append([row["series"], f"{n:,}", row["parts"], row["messages"], short(sent / n), short(sent / m), short(back / n)])
    heads = ("series", "containers", "parts", "messages", "bytes sent a container", "a machine", "bytes back a container")
    return table(heads, body) if body else []


def cases_by_iterations(engines: Sequence[Row]) -> list[str]:
    """The cases whose answers can be compared."""
    return list(dict.fromkeys(row["case"] for row in engines if row["same"] and not row["case"].startswith("jobs")))


def engine_lines(engines: Sequence[Row]) -> list[str]:
    """Each case by iterations: medians, and ratios to one process within each repetition."""
    body = []
    for case in cases_by_iterations(engines):
        here = {(row["run"], row["repetition"]): row for row in picked(engines, case=case, engine="here")}
        for engine in ("here", "pool", "ray"):
            rows = [row for row in picked(engines, case=case, engine=engine) if (row["run"], row["repetition"]) in here]
            if rows:
                body.append([case, f"{engine}, {rows[0]['workers']}", *_engine_cells(rows, here)])
    heads = ("case", "engine, workers", "runs", "wall s", "wall ratio", "parallel part", "CPU s", "CPU ratio")
    return table((*heads, "start s", "start CPU s", "same answer"), body) if body else []


def _engine_cells(rows: Sequence[Row], here: Mapping[tuple[str, str], Row]) -> list[str]:
    def ratio(column: str) -> str:
        known = [(float(row[column]), float(here[row["run"], row["repetition"]][column])) for row in rows]
        ratios = [own / other for own, other in known if other > 0]
        return f"{median(ratios):.2f}" if ratios else UNKNOWN

    columns = ("wall_s", "cpu_s", "start_s", "start_cpu_s")
    wall, cpu, start, start_cpu = (f"{median(float(row[name]) for row in rows):.1f}" for name in columns)
    same = "yes" if all(row["same"] == "yes" for row in rows) else "**no**"
    return [str(len(rows)), wall, ratio("wall_s"), ratio("parallel_s"), cpu, ratio("cpu_s"), start, start_cpu, same]


def byte_lines(engines: Sequence[Row]) -> list[str]:
    """What travels, for each case."""
    body = []
    for case in cases_by_iterations(engines):
        row = next(iter(picked(engines, case=case, engine="ray")), None)
        if row is not None:
            jobs, kib = int(row["jobs"]), 1 / 1024
            sent, back = float(row["bytes_sent"]) * kib / jobs, float(row["bytes_received"]) * kib / jobs
            body.append([case, f"{jobs:,}", str(2 * jobs), short(float(row["bytes_shared"]) * kib), short(sent), short(back)])
    heads = ("case", "jobs", "messages", "KiB in the object store, once", "KiB sent for a job", "KiB back for a job")
    return table(heads, body) if body else []


def job_cost_lines(engines: Sequence[Row]) -> list[str]:
    """What engines cost themselves: jobs that do nothing."""
    body, costs = [], ("parallel_s", "driver_cpu_s")
    for case in dict.fromkeys(row["case"] for row in engines if row["case"].startswith("jobs")):
        for engine in ("pool", "ray"):
            rows = picked(engines, case=case, engine=engine)
            if rows:
                each = [short(median(1000 * float(row[name]) / int(row["jobs"]) for row in rows)) for name in costs]
                body.append([case.removeprefix("jobs: "), f"{engine}, {rows[0]['workers']}", rows[0]["jobs"], *each])
    return table(("jobs", "engine, workers", "number", "wall ms a job", "driver's CPU ms a job"), body) if body else []


def equal_cpu_lines(engines: Sequence[Row]) -> list[str]:
    """One process for 2 T seconds against two for T, seed by seed."""
    body = []
    for case in dict.fromkeys(row["case"] for row in engines if row["case"].endswith("by seconds")):
        one, two = ({row["repetition"]: row for row in picked(engines, case=case, engine=name)} for name in ("here", "pool"))
        for seed in sorted(one.keys() & two.keys(), key=int):
            a, b = one[seed], two[seed]
            change = f"{100 * (float(b['quality']) / float(a['quality']) - 1):+.2f} %" if float(a["quality"]) else UNKNOWN
            qualities = [f"{float(row['quality']):.4f}" for row in (a, b)]
            body.append([case, seed, a["seconds"], b["seconds"], a["cpu_s"], b["cpu_s"], *qualities, change])
    heads = ("case", "seed", "one: s", "two: s", "one: CPU s", "two: CPU s", "one: quality", "two: quality", "change")
    return table(heads, body) if body else []


def parts_lines(measured: Sequence[Row]) -> list[str]:
    """Whole against parts by the same iterations."""
    body = []
    for cluster in dict.fromkeys(row["cluster"] for row in measured):
        whole = {(row["seed"], row["iterations"]): float(row["local"]) for row in picked(measured, cluster=cluster, parts="1")}
        for parts in sorted({int(row["parts"]) for row in measured if row["cluster"] == cluster}):
            rows = picked(measured, cluster=cluster, parts=str(parts))
            keys = [(row["seed"], row["iterations"]) for row in rows]
            pairs = [(float(row["local"]), whole[key]) for row, key in zip(rows, keys, strict=True) if key in whole]
            change = f"{100 * mean(own / other - 1 for own, other in pairs):+.1f} %" if pairs else UNKNOWN
            local, cpu = mean(float(row["local"]) for row in rows), mean(float(row["cpu_s"]) for row in rows)
            told = [cluster, f"{int(rows[0]['containers']):,}", str(parts), f"{int(rows[0]['iterations']):,}", str(len(rows))]
            broken = str(sum(int(row["violations"]) for row in rows))
            body.append([*told, f"{local:.4f}", change, f"{cpu:.1f}", broken])
    heads = ("cluster", "containers", "parts", "iterations", "seeds", "local", "to the whole", "CPU s", "violations")
    return table(heads, body) if body else []


def fleet_lines(measured: Sequence[Row]) -> list[str]:
    """Moves shared where they bring most, against the same moves divided evenly."""
    body = []
    for row in measured:
        even = picked(measured, fleet=row["fleet"], seed=row["seed"], arm="even", commit=row["commit"])
        base = float(even[0]["gain"]) if even else 0.0
        change = f"{100 * (float(row['gain']) / base - 1):+.1f} %" if base else UNKNOWN
        sizes = [row["clusters"], f"{int(row['machines']):,}", f"{int(row['containers']):,}"]
        gains = [f"{int(row['moves']):,}", f"{float(row['gain']):.4f}", change]
        costs = [row["wall_s"], row["cpu_s"], row["peak_mb"], row["worker_peak_mb"]]
        body.append([row["fleet"], row["arm"], row["seed"], *sizes, *gains, *costs])
    heads = ("fleet", "moves are", "seed", "clusters", "machines", "containers", "moves", "gain", "to evenly")
    return table((*heads, "wall s", "CPU s", "MB", "of a worker"), body) if body else []


def validation_lines(found: Sequence[Validated]) -> list[str]:
    """The model against measured runs on three nodes."""
    body = []
    for each in found:
        both = each.from_own_jobs, each.from_here
        errors = [f"{short(value)} ({100 * (value / each.measured - 1):+.0f} %)" for value in both]
        body.append([each.case, each.repetition, short(each.measured), *errors])
    heads = ("case", "run", "measured s", "predicted from its own jobs", "predicted from jobs in one process")
    return table(heads, body) if body else []


def prediction_lines(found: Sequence[Prediction]) -> list[str]:
    """Time over the number of workers."""
    body = []
    for each in found:
        times = [amount(value, "s") for value in (each.seconds, each.disturbed, each.slowest)]
        busy = [f"{each.worker_busy:.0%}", f"{each.driver_busy:.1%}"]
        body.append([f"{each.workers:,}", *times, short(each.lost), *busy, f"{found[0].seconds / each.seconds:.1f}"])
    heads = ("workers", "nothing fails", "failures and stragglers", "slowest of these", "jobs lost", "workers busy")
    return table((*heads, "driver busy", "times faster"), body) if body else []


def machines_of(*measured: Iterable[Row]) -> str:
    """What the rows were measured on."""
    rows = [row for each in measured for row in each]
    return measured_on(rows) if rows else "nothing yet"
