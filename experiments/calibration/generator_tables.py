"""The tables of docs/verbs/generate.md, from the rows of generators.csv."""

from collections.abc import Collection, Sequence

from bayplan.generate import GENERATORS
from experiments.results import Row, measured_on, put

SECONDS = "seconds"
SIZES = ("machines", "zones", "services", "containers", "waiting", "requests", "members")  # as the first table shows them
LOAD = "load "  # quantities that depend on the load factor begin so
SECTION = {
    "freecontainer-dca": "#freecontainer",
    "freecontainer-dcb": "#freecontainer",
}
NONE = "-"
NOT_MEASURED = ("azure-clusters",)  # needs traces that are not shipped


def written(page: str, measured: Sequence[Row]) -> str:
    """`page` with every table made anew."""
    both = ("freecontainer-dca", "freecontainer-dcb")
    tables = {
        "generators-table": generators_table(measured),
        "boutique-table": shape_table(measured, ("boutique",)),
        "freecontainer-table": shape_table(measured, both),
        "ucac-table": shape_table(measured, ("ucac",)),
        "requests-table": shape_table(measured, ("requests", "google2011"), leave_out=()),
        "loads-table": loads_table(measured),
        "container-clusters-table": shape_table(measured, ("container-clusters",)),
    }
    for marker, lines in tables.items():
        page = put(page, marker, lines)
    return page


def generators_table(measured: Sequence[Row]) -> list[str]:
    """One line per generator: its size over the seeds, its source, how long seed 0 takes; then where that was measured."""
    lines, links = ["| name | size | source | seconds |", "|---|---|---|---|"], []
    for name, generator in GENERATORS.items():
        rasa, told = name.startswith("rasa-"), name in NOT_MEASURED
        sizes = [f"{span(values)} {size}" for size in SIZES if (values := of(measured, name, size))]
        link = "generate-rasa.md" if rasa else SECTION.get(name, f"#{name}")
        size = generator.about if rasa or told else ", ".join(sizes) or NONE
        links.append(f"[{name}]: {link}")
        lines.append(f"| [{name}] | {size} | {generator.source} | {_seconds(measured, name)} |")
    where = measured_on(row for row in measured if row["quantity"] == SECONDS)
    return [*lines, "", f"Seconds: seed 0, the faster of two runs in one process, on {where}.", "", *links]


def shape_table(measured: Sequence[Row], names: Sequence[str], leave_out: Collection[str] = SIZES) -> list[str]:
    """One line per quantity, one column per generator."""
    heads = [f"{name}{_seeds(measured, name)}" for name in names]
    lines = ["| quantity | " + " | ".join(heads) + " |", "|---|" + "---|" * len(names)]
    found = dict.fromkeys(row["quantity"] for row in measured if row["generator"] in names)
    kept = [q for q in found if q not in (*leave_out, SECONDS) and not q.startswith(LOAD)]
    return lines + [f"| {q} | " + " | ".join(span(of(measured, name, q)) for name in names) + " |" for q in kept]


def loads_table(measured: Sequence[Row]) -> list[str]:
    """One line per load factor, one column per quantity of it."""
    split = [row["quantity"].removeprefix(LOAD).split(": ") for row in measured if row["quantity"].startswith(LOAD)]
    loads, quantities = dict.fromkeys(load for load, _ in split), dict.fromkeys(quantity for _, quantity in split)
    lines = ["| load | " + " | ".join(quantities) + " |", "|---|" + "---|" * len(quantities)]
    for load in loads:
        cells = [span(of(measured, "requests", f"{LOAD}{load}: {quantity}")) for quantity in quantities]
        lines.append(f"| {load} | " + " | ".join(cells) + " |")
    return lines


def of(measured: Sequence[Row], generator: str, quantity: str) -> list[float]:
    """The values of a quantity, one per seed."""
    return [float(row["value"]) for row in measured if (row["generator"], row["quantity"]) == (generator, quantity)]


def span(values: Sequence[float]) -> str:
    """'mean (least .. most)', or the one value that all have."""
    if not values:
        return NONE
    least, most = shown(min(values)), shown(max(values))
    return least if least == most else f"{shown(sum(values) / len(values))} ({least} .. {most})"


def shown(value: float) -> str:
    """Four digits, never as a power of ten."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.6f}" if 0 < value < 0.001 else f"{value:.4g}"


def _seconds(measured: Sequence[Row], name: str) -> str:
    return ", ".join(f"{value:.2g}" for value in of(measured, name, SECONDS)) or NONE


def _seeds(measured: Sequence[Row], name: str) -> str:
    """', seeds 0-9'; nothing for what has no seed."""
    seeds = sorted(
        {int(row["seed"]) for row in measured if row["generator"] == name and row["seed"] and row["quantity"] != SECONDS}
    )
    if not seeds:
        return ""
    return f", seed {seeds[0]}" if len(seeds) == 1 else f", seeds {seeds[0]}-{seeds[-1]}"
