"""What the performance model says, in words and tables. Wherever it stands, it is called a model."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from bayplan.report.amounts import NARROW, odds, percent
from bayplan.report.change_page.data import PageSection
from bayplan.report.markup import card, html_table, paragraph
from bayplan.report.table import UNKNOWN, Cell, Part, Report, Sentence, Table, TableColumn, report, table
from bayplan.score.performance import Assumptions, Performance, PerformanceChange
from bayplan.words import count

if TYPE_CHECKING:
    from bayplan.score.performance.simulation import SimulatedLatency

TITLE = "Requests, by a model (not measured)"
BEFORE_AND_AFTER = 2  # states
ROUNDING = 1e-9
NOTE = "A model: read it to compare placements, not as a forecast."


def milliseconds(value: float) -> str:
    """'0.42 ms', '4.3 ms', '137 ms'."""
    digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
    return f"{value:,.{digits}f}{NARROW}ms"


def times(value: float | None) -> str:
    """'1.6 times'; a dash where no machine limits it."""
    return UNKNOWN if value is None else f"{value:.2f}{NARROW}times"


def figure_words(figures: Performance) -> dict[str, tuple[str, float | None]]:
    """The figures by label: the text and the number."""
    words: dict[str, tuple[str, float | None]] = {
        "median latency (p50)": (milliseconds(figures.p50_ms), figures.p50_ms),
        "95 % of requests are faster than (p95)": (milliseconds(figures.p95_ms), figures.p95_ms),
        "requests that fail": (odds(figures.error_rate), figures.error_rate),
        "most traffic, before a machine has no CPU left": (times(figures.max_load), figures.max_load),
    }
    return words


def performance_table(states: Mapping[str, Performance]) -> Table:
    """The figures of some states, side by side; of two states also the change."""
    words = [figure_words(state) for state in states.values()]
    columns = [TableColumn("by the model", key="figure", least=30), *(TableColumn(name, "number") for name in states)]
    rows = [[Cell(label), *(Cell(*each[label]) for each in words)] for label in words[0]]
    if len(words) == BEFORE_AND_AFTER:
        columns.append(TableColumn("change", "share"))
        rows = [[*row, _change(row[1].value, row[2].value)] for row in rows]
    return table(columns, rows, title=TITLE)


def _change(old: float | None, new: float | None) -> Cell:
    """'-12 %'."""
    if not old or new is None:
        return Cell(UNKNOWN)
    share = new / old - 1.0
    return Cell(f"{'+' if share > 0 else ''}{percent(share)}" if abs(share) >= ROUNDING else f"0{NARROW}%", share)


def assumed(given: Assumptions, *, option: str = "") -> str:
    """The assumptions in one sentence, and how to change them."""
    visit = "a visit slows down as [FreeContainer] measured" if given.queue == "curve" else _sharing(given)
    used = f"{percent(given.request_used)} of a request used where no usage is stated"
    parts = [
        f"router {given.router}",
        f"a call {given.ipc_ms:g}{NARROW}ms on one machine and {given.network_ms:g}{NARROW}ms over the network",
        visit,
        f"{odds(given.network_error)} of network calls and {odds(given.ipc_error)} of local ones fail",
        used,
    ]
    others = [f"{name}={_written(value)}" for name, value in given.differing().items() if name in _NOT_SAID]
    change = f" Change with {option}." if option else ""
    return f"Assumed: {'; '.join([*parts, *others])}.{change}"


_NOT_SAID = ("serialisation", "overload_from", "overload_error", "peer_calls", "load", "saturated_at")


def _sharing(given: Assumptions) -> str:
    return f"{given.service_ms:g}{NARROW}ms of CPU for a visit, and machines share their CPU"


def saturated(states: Mapping[str, Performance]) -> str:
    """What to know about machines that are too full for the model; empty if none is."""
    full = {name: state.saturated for name, state in states.items() if state.saturated}
    words = ", ".join(f"{count(number, 'machine')} {name}" for name, number in full.items())
    return f"Too little CPU for any queue to end: {words}; taken to be as slow as the model goes." if full else ""


def performance_parts(states: Mapping[str, Performance], given: Assumptions, *, option: str = "") -> Report:
    """The table, and beside it what is assumed."""
    lines = (Sentence(saturated(states), "warn"), Sentence(f"{NOTE} {assumed(given, option=option)}", "soft"))
    return report(performance_table(states), *lines)


def assumption_table(given: Assumptions) -> Table:
    """Every assumption with its value, what it means, and where its default comes from."""
    columns = (
        TableColumn("assumption"),
        TableColumn("value", "number"),
        TableColumn("what it is", least=30),
        TableColumn("source"),
    )
    rows = (
        (Cell(known.name), Cell(_written(getattr(given, known.name))), Cell(_about(known)), Cell(_source(known, given)))
        for known in fields(given)
    )
    return table(columns, rows, title="What the model assumes")


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _about(known: Any) -> str:
    unit = known.metadata["unit"]
    return f"{unit} {known.metadata['about']}".strip()


def _source(known: Any, given: Assumptions) -> str:
    return str(known.metadata["source"]) if getattr(given, known.name) == known.default else f"given; {known.default} by default"


def performance_content(figures: Performance, given: Assumptions, simulated: "SimulatedLatency | None") -> Report:
    """The figures of one placement, those of the simulation, and every assumption."""
    run = [] if simulated is None else [Sentence(_simulated_words(simulated))]
    local = f"{percent(figures.local_share)} of calls stay on their machine; a request makes {figures.calls:.2g} calls."
    parts = performance_parts({"value": figures}, given)
    return report(*parts.parts[:1], Sentence(local), *run, *parts.parts[1:], assumption_table(given))


def _simulated_words(run: "SimulatedLatency") -> str:
    mean = f"{milliseconds(run.mean_ms)} ± {milliseconds(run.half_width_ms)}"
    tail = f"p50 {milliseconds(run.quantile_ms(0.5))}, p95 {milliseconds(run.quantile_ms(0.95))}"
    return f"Simulated, {count(len(run.latency_ms), 'request')}: mean {mean}, {tail}, {odds(run.error_rate)} fail."


def change_parts(change: PerformanceChange | None) -> tuple[Part, ...]:
    """A short block about a plan: before, after, and what is assumed; nothing where there is no traffic."""
    if change is None:
        return ()
    return performance_parts(_states(change), change.assumptions, option="--assume NAME=VALUE").parts


def change_section(change: PerformanceChange | None) -> tuple[PageSection, ...]:
    """The same on a page, with every assumption; nothing where there is no traffic."""
    if change is None:
        return ()
    notes = [line for line in (saturated(_states(change)), f"{NOTE} {assumed(change.assumptions)}") if line]
    figures = replace(performance_table(_states(change)), title="")
    assumptions = assumption_table(change.assumptions)
    parts = (
        card("", html_table(figures), *(paragraph(line, "soft") for line in notes)),
        card(assumptions.title, html_table(assumptions)),
    )
    return (PageSection(title=TITLE, parts=parts),)


def _states(change: PerformanceChange) -> dict[str, Performance]:
    return {"before": change.before, "after": change.after}


def change_details(change: PerformanceChange | None) -> dict[str, Any] | None:
    """What JSON says: the figures of both states and every assumption."""
    return None if change is None else {**asdict(change), "note": NOTE}
