"""Every verb and method over very many adversarial inputs, judged by referees that share no code with the methods.

    python -m tests.stress.everything --count 10000 --seed 0 --out all.csv
    python -m tests.stress.everything --only collocate:rasa --count 200
    python -m tests.stress.everything --seed-at 4711 --save fault.json        one case again, its input made as small as possible

The table has one row per case; a run that is started again goes on where the table ends. The exit code is 1 if anything is wrong.
"""

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.stress.cases import Case, case_of, pairs
from tests.stress.judged import Verdict, judged
from tests.stress.minimise import minimised
from tests.stress.table import recorded


class Row(NamedTuple):
    """One case in the table."""

    seed: int
    verb: str
    method: str
    options: str
    outcome: str
    cpu_seconds: float
    fault: str


def row_of(seed: int, only: tuple[str, str] | None = None) -> Row:
    """Ask and judge the case of a seed."""
    case = case_of(seed, only)
    verdict = judged(case)
    return Row(
        seed=seed,
        verb=case.verb,
        method=case.method,
        options=_words(case),
        outcome=verdict.outcome,
        cpu_seconds=round(verdict.seconds, 3),
        fault="; ".join(verdict.faults)[:600],
    )


def _words(case: Case) -> str:
    """The options of a case in one line."""
    frame = {"threads": case.threads, "iterations": case.iterations}
    if case.on_command_line:
        frame["command_line"] = True
    return json.dumps({**frame, **case.options}, default=str, sort_keys=True)


def rows(seeds: Iterable[int], only: tuple[str, str] | None, jobs: int) -> Iterator[Row]:
    """The rows of many seeds, in order."""
    if jobs == 1:
        yield from (row_of(seed, only) for seed in seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_Row(only), seeds, chunksize=20)


class _Row(NamedTuple):
    """`row_of` for a pool."""

    only: tuple[str, str] | None

    def __call__(self, seed: int) -> Row:
        return row_of(seed, self.only)


def summary(table: Iterable[Row]) -> list[str]:
    """Counts by verb and method, as lines of a markdown table, then the faults by kind."""
    by_method: dict[tuple[str, str], Counter[str]] = {}
    seconds: Counter[tuple[str, str]] = Counter()
    faults: Counter[str] = Counter()
    for row in table:
        by_method.setdefault((row.verb, row.method), Counter())[row.outcome] += 1
        seconds[row.verb, row.method] += row.cpu_seconds  # type: ignore[assignment]
        if row.outcome == "fault":
            faults[f"{row.verb}:{row.method}: {Verdict(outcome='fault', faults=(row.fault,)).kind}"] += 1
    outcomes = ("optimal", "feasible", "infeasible", "out-of-budget", "refused", "fault")
    lines = ["| verb | method | cases | " + " | ".join(outcomes) + " | CPU s |", "|" + "---|" * (len(outcomes) + 4)]
    for key in sorted(by_method):
        counts = by_method[key]
        cells = [*key, f"{counts.total():,}", *(f"{counts[name]:,}" if counts[name] else "" for name in outcomes)]
        lines.append(f"| {' | '.join(cells)} | {seconds[key]:.0f} |")
    total = sum(by_method.values(), Counter())
    cells = ["all", "", f"{total.total():,}", *(f"{total[name]:,}" for name in outcomes)]
    lines.append(f"| {' | '.join(cells)} | {seconds.total():.0f} |")
    return [*lines, *(f"{count} x {kind}" for kind, count in faults.most_common())]


def read_table(path: Path) -> list[Row]:
    """The rows of a table that is there already."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Row(**{**row, "seed": int(row["seed"]), "cpu_seconds": float(row["cpu_seconds"])}) for row in csv.DictReader(file)
        ]


def replay(seed: int, only: tuple[str, str] | None, save: Path | None) -> int:
    """One case again: what is wrong with it, and the smallest input that shows it."""
    case = case_of(seed, only)
    verdict = judged(case)
    print(f"{case.verb}:{case.method} {_words(case)}\n{verdict.outcome}", *verdict.faults, sep="\n  ")
    if not verdict.faults:
        return 0
    case, document = minimised(case)
    print("smallest:", _words(case), *judged(case).faults, sep="\n  ")
    if case.target is not None:
        print("target:", json.dumps(case.target))
    print(json.dumps(document))
    if save is not None:
        save.write_text(json.dumps(document))
    return 1


def main(arguments: list[str] | None = None) -> int:
    """Run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the table, CSV")
    parser.add_argument("--only", help="VERB:METHOD")
    parser.add_argument("--seed-at", type=int, help="replay the case of this seed")
    parser.add_argument("--save", type=Path, help="with --seed-at: write the smallest input")
    given = parser.parse_args(arguments)
    only = None if given.only is None else tuple(given.only.split(":"))
    if only is not None and only not in pairs():
        parser.error(f"no {given.only}; expected one of {', '.join(':'.join(pair) for pair in pairs())}")
    if given.seed_at is not None:
        return replay(given.seed_at, only, given.save)
    table = [] if given.out is None else read_table(given.out)
    known = {row.seed for row in table}
    seeds = [seed for seed in range(given.seed, given.seed + given.count) if seed not in known]
    for row in recorded(rows(seeds, only, given.jobs), given.out):
        table.append(row)
        if row.outcome == "fault":
            print(f"seed {row.seed}, {row.verb}:{row.method}: {row.fault}", flush=True)
    print(*summary(table), sep="\n")
    return 1 if any(row.outcome == "fault" for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
