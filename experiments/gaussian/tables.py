"""The tables and verdicts of docs/verbs/pack-uncertainty.md, from the rows of shape.csv, rates.csv and instants.csv."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, median

from experiments.gaussian.fleets import DATA
from experiments.gaussian.measures import MODELS
from experiments.results import ROOT, Row, measured_on, put

DOCS = ROOT / "docs" / "verbs" / "pack-uncertainty.md"
MARKERS = ("gaussian-shape", "gaussian-instants", "gaussian-rates", "gaussian-sizes", "gaussian-verdicts")
ALPHAS = ("0.99", "0.999")
HOLDS, NEARLY = 1.5, 3.0  # times the promised rate; the Gaussian control shows up to 1.4 by chance
COLUMNS = (("moments", "own"), ("moments", "apart"), ("moments", "together"), ("days", "together"))
WORDS = ("same samples", "other moments", "other moments, together", "other days, together")
SOURCES = {"google2019": "Google 2019", "planetlab": "PlanetLab"}


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(line)} |" for line in lines)]


def _data(measured: Sequence[Row]) -> list[str]:
    return [name for name in DATA if any(row["data"] == name for row in measured)]


# ---- shape ---------------------------------------------------------------------------------------------------------------------


def shape_lines(measured: Sequence[Row]) -> list[str]:
    """Medians over the services or machines, for one container and for sums."""
    head = ["data", "containers", "skewness", "excess kurtosis", "KS distance", "99 % at", "99.9 % at", "correlation"]
    lines = [_shape_line(name, n, measured) for name in _data(measured) for n in ("1", "5", "20")]
    return [*_table(head, lines), "", f"Measured on {measured_on(measured)}."] if measured else []


def _shape_line(name: str, n: str, measured: Sequence[Row]) -> list[str]:
    some = [row for row in measured if (row["data"], row["n"]) == (name, n)]
    numbers = [f"{median(float(row[key]) for row in some):.2f}" for key in ("skew", "kurtosis", "ks", "z99", "z999", "common")]
    return [DATA[name].about, n, *numbers]


def instant_lines(measured: Sequence[Row]) -> list[str]:
    """How services look at their peak moments."""
    head = ["data", "service-days", "skewness", "skewed by more than two standard errors", "95 % at", "largest at", "if Gaussian"]
    lines = []
    for source in sorted({row["source"] for row in measured}):
        some = [row for row in measured if row["source"] == source]
        skewed = sum(float(row["skew"]) > 2 * float(row["skew_error"]) for row in some) / len(some)
        middle = [f"{median(float(row[key]) for row in some):.2f}" for key in ("skew", "z95", "z_max", "z_max_normal")]
        lines.append([SOURCES.get(source, source), str(len(some)), middle[0], f"{skewed:.0%}", *middle[1:]])
    return _table(head, lines) if measured else []


# ---- rates ---------------------------------------------------------------------------------------------------------------------


def rate_of(measured: Sequence[Row], split: str, column: str) -> float | None:
    """The mean over all machines that have one."""
    some = [float(row[column]) for row in measured if row["split"] == split and row[column]]
    return mean(some) if some else None


def _of(measured: Sequence[Row], **wanted: str) -> list[Row]:
    return [row for row in measured if all(row[key] == value for key, value in wanted.items())]


def rate_lines(measured: Sequence[Row]) -> list[str]:
    """One line per data set and belief; each cell has 99 and 99.9 %."""
    head = ["data", "belief", "machines", *WORDS]
    lines = []
    for name in _data(measured):
        for model in MODELS:
            both = [_of(measured, data=name, model=model, alpha=alpha) for alpha in ALPHAS]
            machines = " / ".join(f"{machines_of(some):.2f}" for some in both)
            cells = [" / ".join(_percent(rate_of(some, *column)) for some in both) for column in COLUMNS]
            lines.append([DATA[name].about, model, machines, *cells])
    return [*_table(head, lines), "", f"Measured on {measured_on(measured)}."] if measured else []


def size_lines(measured: Sequence[Row]) -> list[str]:
    """The Gaussian size, by how many share a machine."""
    sizes = sorted({int(row["n"]) for row in measured})
    lines = []
    for name in _data(measured):
        gaussian = _of(measured, data=name, model="gaussian")
        cells = [[rate_of(_of(gaussian, n=str(n), alpha=alpha), "moments", "apart") for alpha in ALPHAS] for n in sizes]
        lines.append([DATA[name].about, *(" / ".join(map(_percent, pair)) for pair in cells)])
    return _table(["data", *(f"{n} containers" for n in sizes)], lines) if measured else []


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.2%}" if rate else "0"


# ---- verdicts ------------------------------------------------------------------------------------------------------------------


def verdict_lines(measured: Sequence[Row]) -> list[str]:
    """A plain word on each data set."""
    together = [words.removesuffix(", together") for words in WORDS[2:]]
    head = ["data", *(f"Gaussian, {words}" for words in (WORDS[0], *together)), *(f"empirical, {words}" for words in together)]
    head.append("moments")
    return _table(head, [_verdict(name, _of(measured, data=name)) for name in _data(measured)]) if measured else []


def _verdict(name: str, measured: Sequence[Row]) -> list[str]:
    gaussian, empirical = (_of(measured, model=model) for model in ("gaussian", "empirical"))
    said = [word(gaussian, *column) for column in (COLUMNS[0], *COLUMNS[2:])]
    moments = sorted({int(row["moments"]) for row in gaussian if row["split"] == "days" and row["together"]})
    span = f"{moments[0]} to {moments[-1]}" if len(moments) > 1 else str(moments[0])
    return [DATA[name].about, *said, *(word(empirical, *column) for column in COLUMNS[2:]), span]


def machines_of(measured: Sequence[Row]) -> float:
    """The median of machines needed beside Gaussian, what both know being learnt on every other day."""
    return median(float(row["machines"]) for row in measured if row["split"] == "days")


def word(measured: Sequence[Row], split: str, column: str) -> str:
    """'holds', 'nearly' or '**fails**', and how many times the promised rate was seen, at the worse confidence."""
    found = [(alpha, rate_of(_of(measured, alpha=alpha), split, column)) for alpha in ALPHAS]
    times = max(rate / (1 - float(alpha)) for alpha, rate in found if rate is not None)
    said = "holds" if times <= HOLDS else "nearly" if times <= NEARLY else "**fails**"
    return f"{said} ({times:.1f})"


# ---- the page ------------------------------------------------------------------------------------------------------------------


def written(text: str, shape: Sequence[Row], rates: Sequence[Row], instants: Sequence[Row]) -> str:
    """A page with all tables."""
    parts = (shape_lines(shape), instant_lines(instants), rate_lines(rates), size_lines(rates), verdict_lines(rates))
    for marker, lines in zip(MARKERS, parts, strict=True):
        text = put(text, marker, lines)
    return text


def write_page(folder: Path, shape: Sequence[Row], rates: Sequence[Row], instants: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs/pack-uncertainty.md, or into a page of the same name in the folder that has nothing but the tables."""
    page = DOCS if in_docs else folder / DOCS.name
    bare = "".join(f"<!-- {marker}: generated -->\n<!-- {marker}: end -->\n" for marker in MARKERS)
    text = DOCS.read_text(encoding="utf-8") if in_docs else bare
    page.write_text(written(text, shape, rates, instants), encoding="utf-8")
