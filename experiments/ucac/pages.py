"""`python -m experiments.ucac.pages`: the tables of docs/verbs/ucac.md, from the CSV files, and the pictures of Figure 3."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from bayplan.generate.ucac_services import CAPACITY, MILLI
from bayplan.report.pictures.ucac import UcacCurve, ucac_curves
from experiments.results import ROOT, Row, measured_on, put, rows, standing_alone, table
from experiments.ucac import calibrate
from experiments.ucac.claims import FILES, claims_in
from experiments.ucac.figures import SECONDS
from experiments.ucac.tables import table_lines
from experiments.ucac.week_tables import week_lines
from experiments.verdicts import RULE, claim_table, yes

HERE = Path(__file__).parent
DOCS = ROOT / "docs" / "verbs" / "ucac.md"
PICTURES = "pictures"
MEDIAN, WORST, LARGE = 0.5, 3.0, 60.0  # seconds, the targets


def written(text: str, folder: Path) -> str:
    """The page with its tables made anew from the CSV files of a folder."""
    blocks = {
        "ucac-calibration": calibration_lines(rows(HERE / calibrate.CSV), rows(HERE / calibrate.WEEK_CSV)),
        "ucac-claims": claim_lines(folder),
        "ucac-tables": table_lines(rows(folder / "cells.csv")),
        "ucac-week": week_lines(rows(folder / "week.csv")),
        "ucac-times": time_lines(rows(folder / "columns.csv")),
        "ucac-stock": stock_lines(rows(folder / "stock.csv")),
        "ucac-benchmark": bench_lines(rows(ROOT / "benchmarks" / "pack.csv")),
    }
    for marker, lines in blocks.items():
        text = put(text, marker, lines)
    return text


def claim_lines(folder: Path) -> list[str]:
    """Every claim with its verdict; nothing if nothing was measured."""
    measured = any((folder / f"{name}.csv").is_file() for name in FILES)
    return [RULE, "", *claim_table(claims_in(folder, quick=folder != HERE))] if measured else []


def calibration_lines(measured: Sequence[Row], weeks: Sequence[Row]) -> list[str]:
    """The ratios of every factor that was tried, and of every swing."""
    ratio, miss = calibrate.ratios(measured), calibrate.misses(measured)
    lines = (
        ["| case | factor | ratio at 99.9% | ratio at 99.0% | distance from the paper's, summed |", "|---|---|---|---|---|"]
        if miss
        else []
    )
    for (case, factor), off in sorted(miss.items(), key=lambda item: (item[0][0], float(item[0][1]))):
        both = [f"{ratio[case, factor, alpha]:.3f}" if (case, factor, alpha) in ratio else "-" for alpha in ("0.999", "0.99")]
        lines.append(f"| {case} | {factor} | {' | '.join(both)} | {off:.3f} |")
    return [*lines, *_week_calibration(weeks)]


def _week_calibration(weeks: Sequence[Row]) -> Iterator[str]:
    head = ["swing of the week", "drift", "UCaC of `csp-ucac`", "its violations, predicted, per machine-day"]
    head += ["UCaC of `csp-machines` over it", "machines over it"]
    for number, ((swing, drift), outcome) in enumerate(calibrate.outcomes(weeks).items()):
        if not number:
            yield from ("", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
        cells = [
            swing,
            drift,
            f"{outcome.ucac:,.0f}",
            f"{outcome.violations:.3%}",
            f"{outcome.ucac_ratio:.3f}",
            f"{outcome.machines_ratio:.3f}",
        ]
        yield f"| {' | '.join(cells)} |"


def time_lines(measured: Sequence[Row]) -> list[str]:
    """Seconds of the processor for column generation to strict convergence."""
    if not measured:
        return []
    head = ["K", "confidence", "priced by", "seeds", "converged", "median CPU s", "worst CPU s", "rounds", "patterns"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for key in sorted({(int(row["services"]), row["alpha"], row["goal"]) for row in measured}):
        of_line = [row for row in measured if (int(row["services"]), row["alpha"], row["goal"]) == key]
        seconds = [float(row["seconds"]) for row in of_line]
        converged = sum(row["converged"] == "yes" for row in of_line)
        cells = [str(key[0]), f"{float(key[1]):.1%}", key[2], str(len(of_line)), f"{converged} of {len(of_line)}"]
        cells += [f"{median(seconds):.3f}", f"{max(seconds):.3f}"]
        cells += [f"{median(float(row[name]) for row in of_line):g}" for name in ("rounds", "patterns")]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", *_time_claims(measured), "", f"Measured on {measured_on(measured)}."]


def _time_claims(measured: Sequence[Row]) -> Iterator[str]:
    """Every line of the table has to hold, not their mean."""
    for services, limit in ((20, WORST), (100, LARGE)):
        of_size = [row for row in measured if row["services"] == str(services)]
        if of_size:
            lines = {(row["alpha"], row["goal"]) for row in of_size}
            medians = [median(float(row["seconds"]) for row in of_size if (row["alpha"], row["goal"]) == line) for line in lines]
            worst, converged = max(float(row["seconds"]) for row in of_size), sum(row["converged"] == "yes" for row in of_size)
            quick = services != 20 or max(medians) < MEDIAN
            good = yes(converged == len(of_size) and quick and worst < limit)
            target = f"median under {MEDIAN:g} CPU s, worst under {limit:g}" if services == 20 else f"under {limit:g} CPU s"
            detail = (
                f"{converged} of {len(of_size)} converge; median {max(medians):.2f} s in the slowest line, worst {worst:.2f} s"
            )
            theirs = f"; the paper, on 8 cores with Gurobi 9.5: {SECONDS['pattern generation']:,.0f} s" if services == 20 else ""
            yield f"- K = {services}, does every column generation converge, {target}? {good}: {detail}{theirs}."


def stock_lines(measured: Sequence[Row]) -> list[str]:
    """Seconds of the processor for patterns and for the cutting stock step, by case and number of services."""
    if not measured:
        return []
    head = ["case", "K", "confidence", "instances", "patterns, median CPU s", "worst", "cutting stock, median CPU s", "worst"]
    head, body = [*head, "largest gap"], []
    for key in dict.fromkeys((row["case"], row["services"], row["alpha"]) for row in measured):
        of_line = [row for row in measured if (row["case"], row["services"], row["alpha"]) == key]
        cells = [key[0], key[1], f"{float(key[2]):.1%}", str(len(of_line))]
        for part in ("pattern", "stock"):
            seconds = [float(row[f"{part}_cpu_seconds"]) for row in of_line]
            cells += [f"{median(seconds):.2f}", f"{max(seconds):.2f}"]
        gap = max(float(row["gap"] or "inf") for row in of_line)
        body.append([*cells, f"{gap:.4%}"])
    return [*table(head, body), "", f"Measured on {measured_on(measured)}."]


def bench_lines(measured: Sequence[Row]) -> list[str]:
    """The newest measurement of every name, in the order of the file."""
    if not measured:
        return []
    newest = {row["name"]: row for row in measured}
    lines = ["| what | wall s | CPU s | ratio | paper's seconds | target |", "|---" * 6 + "|"]
    for row in newest.values():
        target = f"under {row['limit']} s: {yes(float(row['cpu_seconds']) < float(row['limit']))}" if row["limit"] else "-"
        seconds = " | ".join(f"{float(row[name]):.4f}" for name in ("seconds", "cpu_seconds"))
        lines.append(f"| {row['name']} | {seconds} | {row['ratio']} | {row['paper'] or '-'} | {target} |")
    return [*lines, "", f"Measured on {measured_on(newest.values())}."]


def pictures(folder: Path, measured: Sequence[Row]) -> None:
    """One picture per case of Figure 3."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in dict.fromkeys(row["case"] for row in measured):
        of_case = [row for row in measured if row["case"] == case]
        curves = [UcacCurve(name=row["method"], share=_share(row["ucac"])) for row in of_case]
        title = f"UCaC on machines, {case}, K = {of_case[0]['services']}, {float(of_case[0]['alpha']):.1%}"
        (folder / f"ucac-figure-3-{case}.svg").write_text(ucac_curves(curves, title=title), encoding="utf-8")


def _share(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()]) / (CAPACITY / MILLI)


def write_pages(folder: Path, *, in_docs: bool) -> None:
    """Into docs/verbs/ucac.md and docs/pictures, or into the folder."""
    text = written(DOCS.read_text(encoding="utf-8"), folder)
    if in_docs:
        DOCS.write_text(text, encoding="utf-8")
    else:
        (folder / DOCS.name).write_text(standing_alone(text), encoding="utf-8")
    pictures((DOCS.parents[1] if in_docs else folder) / PICTURES, rows(folder / "figure3.csv"))


if __name__ == "__main__":
    write_pages(HERE, in_docs=True)
