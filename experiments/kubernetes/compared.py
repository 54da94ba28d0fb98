"""`python -m experiments.kubernetes.compared [--quick] [--only small,full] [--seeds 0-1] [--until 14:30] [--out FOLDER]`

One cluster of fake nodes on a real control plane, made by kube-scheduler and churn from a seed; from a copy of it each arm:
nothing, the descheduler with three policies, bayplan with two goals and two limits of moves. Every cell is a row of compared.csv;
then the page docs/kubernetes/compared.md. Resumable: what the file has is not measured again. Needs Go once, to build the control
plane, and Prometheus. `--quick`: 12 nodes and three arms, into a new folder.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.kubernetes.arms import measured
from experiments.kubernetes.pages import CELLS, write_page
from experiments.kubernetes.settings import KEY, QUICK, SCOPES
from experiments.results import rows
from experiments.sweeps import Runs, arguments_of, seeds_of, sweep

HERE = Path(__file__).parent


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the page."""
    arguments, only, out = arguments_of(__doc__, tuple(SCOPES), HERE, argv)
    for scope in [QUICK] if arguments.quick else [SCOPES[name] for name in only]:
        chosen = replace(scope, seeds=seeds_of(arguments.seeds)) if arguments.seeds else scope
        sweep(out / CELLS, KEY, chosen.cells(), measured, Runs(until=arguments.until))
    write_page(out, rows(out / CELLS), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
