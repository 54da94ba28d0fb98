"""Measure the way in at the largest scale: generate, load, score, check and start up.

Appends one row per measurement to `benchmarks/results.csv` as soon as it is made:
commit, machine, name, seconds, peak MB, and the ratio to a yardstick of the same run (reading the
same file with the standard library's JSON parser), which carries over to other machines.

    python -m benchmarks.run [--quick]     --quick measures rasa-m3 instead of rasa-m2
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.results import append, commit, machine

from benchmarks.gmrp_model import LARGE, Size, write_gmrp_model
from benchmarks.measure import Measured, best_of, in_fresh_process

RESULTS = Path(__file__).parent / "results.csv"
COLUMNS = ("commit", "machine", "name", "seconds", "peak_mb", "ratio")

IMPORTS = "import numpy, scipy.sparse, scipy.special"
RUN = "subprocess.run([sys.executable, '-m', 'bayplan', "
READ = "from bayplan.formats import read"
KERNEL = "from bayplan.generate.rasa.cluster import original_placement"
TWIN = """
from bayplan.generate.rasa.cluster import arrivals_at, schedule, nothing_placed
from tests.naive import kube_scheduler as naive
c = s.cluster; n = 60; order = numpy.arange(n); window = len(c.machines.name) // 8
jobs, capacity, f, tie = arrivals_at(c, numpy.arange(len(c.machines.name)), numpy.random.default_rng(0))
lists = [x.tolist() for x in (order, tie[:n], jobs.workload_of[:n], c.workloads.request, capacity)]
rows = [set(numpy.flatnonzero(row).tolist()) for row in f.allowed]
allowed = [rows[row] for row in f.allow_row]
sets = [(rule.workloads, rule.limit) for rule in c.rules if rule.kind == 'anti-affinity']
fast = lambda: schedule(order, tie, jobs, capacity, f, window, nothing_placed(jobs, f, capacity))
fast()
"""
SCORE = f"{READ}; from bayplan.score.terms import score; from bayplan.check import violations"


def measurements(instance: str, file: Path) -> Iterator[tuple[str, Measured]]:
    """Name and cost of each measurement; the first is the yardstick."""
    generate = f"{RUN}'generate', '{instance}', '--out', r'{file}', '--quiet'], check=True)"
    made = in_fresh_process(generate, "import subprocess")
    yield f"json.loads of {instance}", best_of(3, f"json.loads(open(r'{file}').read())")
    yield f"generate {instance}, whole process", made
    parsed = f"d = json.load(open(r'{file}')); from bayplan.formats.native.schema import SNAPSHOT"
    walk = f"{parsed}; from bayplan.formats.document.shape import shape_faults"
    yield f"shape walk of {instance}", best_of(3, "shape_faults(d, SNAPSHOT)", walk)
    library = f"{parsed}; import jsonschema; v = jsonschema.Draft202012Validator(SNAPSHOT)"
    yield f"the jsonschema library on {instance}", best_of(1, "list(v.iter_errors(d))", library)
    yield f"read {instance}", best_of(3, f"read(r'{file}')", f"{IMPORTS}; {READ}")
    loaded = f"{IMPORTS}; {SCORE}; s = read(r'{file}')"
    yield f"score {instance}, all terms", best_of(3, "score(s.cluster, s.placement, s.objective)", loaded)
    yield f"check {instance}, all rules", best_of(3, "list(violations(s.cluster, s.placement))", loaded)
    kernel, twin = f"{loaded}\n{KERNEL}", f"{loaded}\n{KERNEL}\n{TWIN}"
    place = "original_placement(s.cluster, numpy.random.default_rng(0))"
    yield (
        f"kernel kube_scheduler, all of {instance}",
        best_of(3, place, kernel),
    )
    yield f"kernel kube_scheduler, 60 containers of {instance}", best_of(3, "fast()", twin)
    yield (
        f"its naive twin, 60 containers of {instance}",
        best_of(1, "naive.schedule(*lists, allowed, sets, window)", twin),
    )
    yield from gmrp_measurements(file.parent, LARGE if instance == "rasa-m2" else LARGE._replace(machines=500))
    yield "bayplan --help", best_of(3, f"{RUN}'--help'], capture_output=True)", "import subprocess")


def gmrp_measurements(folder: Path, size: Size) -> Iterator[tuple[str, Measured]]:
    """Reading a large GMRP model, beside what it takes to read its integers one token at a time."""
    model = write_gmrp_model(folder, size)
    what = f"GMRP model of {size.machines:,} machines, {model.stat().st_size / 1e6:.0f} MB"
    yield f"read a {what}", best_of(3, f"read(r'{model}')", f"{IMPORTS}; {READ}")
    each = f"numpy.array(list(map(int, open(r'{model}').read().split())))"
    yield f"its integers alone, token by token: {what}", best_of(3, each, IMPORTS)


def main() -> None:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small instance, for a first look")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the CSV to append to")
    arguments = parser.parse_args()
    instance = "rasa-m3" if arguments.quick else "rasa-m2"
    yardstick = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, cost in measurements(instance, Path(folder) / f"{instance}.json"):
            yardstick = yardstick or cost.seconds
            row = (commit(), machine(), name, f"{cost.seconds:.4f}", f"{cost.peak_mb:.0f}", f"{cost.seconds / yardstick:.2f}")
            append(arguments.out, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
            print(*row[2:], sep="\t")


if __name__ == "__main__":
    main()
