"""What the performance model says, in words and tables. Wherever it stands, it is called a model."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from bayplan.report.amounts import NARROW, odds, percent
from bayplan.report.change_page.data import Card, number_card
from bayplan.report.table import UNKNOWN, Cell, Report, Sentence, Table, TableColumn, report, table
from bayplan.score.performance import Assumptions, Performance
from bayplan.words import count

if TYPE_CHECKING:
    from bayplan.score.performance.simulation import SimulatedLatency

TITLE = "Requests, by a model (not measured)"
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
    """The figures of some states, side by side."""
    words = {name: figure_words(state) for name, state in states.items()}
    columns = (TableColumn("by the model", key="figure", least=30), *(TableColumn(name, "number") for name in states))
    labels = next(iter(words.values()), {})
    rows = ([Cell(label), *(Cell(*words[name][label]) for name in states)] for label in labels)
    return table(columns, rows, title=TITLE)


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
    return f"{unit}: {known.metadata['about']}" if unit else str(known.metadata["about"])


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


def performance_cards(before: Performance, after: Performance) -> tuple[Card, ...]:
    """The figures before and after, as cards of a page."""
    made = [
        number_card("median latency", before.p50_ms, after.p50_ms, words=milliseconds, note="by a model"),
        number_card("95 % are faster than", before.p95_ms, after.p95_ms, words=milliseconds, note="by a model"),
        number_card("requests that fail", before.error_rate, after.error_rate, words=odds, note="by a model"),
    ]
    if before.max_load is not None and after.max_load is not None:
        label = "most traffic"
        made.append(number_card(label, before.max_load, after.max_load, words=times, more_is_better=True, note="by a model"))
    return tuple(made)


def performance_details(states: Mapping[str, Performance], given: Assumptions) -> dict[str, Any]:
    """What JSON says: the figures of each state and every assumption."""
    return {**{name: asdict(state) for name, state in states.items()}, "assumptions": asdict(given), "note": NOTE}
