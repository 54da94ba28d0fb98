"""The tables of both studies: the paper's number, ours, and a verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from experiments.production.settings import (
    AFTER,
    BASE,
    BEFORE,
    COLLOCATED,
    FREECONTAINER,
    PAIRS,
    RASA,
    ROUTERS,
    STATED,
    STRESS,
    Cell,
)
from experiments.results import Row, picked, table

NEAR = 0.2  # relative: within it a figure counts as reproduced
RULE = (
    "*Reproduces*: the change is within a fifth of the paper's, relative to it. *Same direction*: it has its sign, not its size. "
    "*Does not*: else."
)
PAPER = {BEFORE: "WITHOUT", AFTER: "WITH", COLLOCATED: "ONLY COLLOCATED"}
HEAD = ("figure", "paper", "the model", "verdict")


class Change(NamedTuple):
    """A figure before and after."""

    old: float
    new: float

    @property
    def share(self) -> float:
        """-0.2 is a fifth less."""
        return self.new / self.old - 1.0 if self.old else 0.0


def verdict(ours: float, paper: float) -> str:
    """Is a change the paper's in size, in direction, or not at all?"""
    if ours * paper <= 0:
        return "does not"
    return "reproduces" if abs(ours - paper) <= NEAR * abs(paper) else "same direction"


def signed(share: float) -> str:
    """'-18.0 %'."""
    return f"{100 * share:+.1f} %"


def _row(measured: Sequence[Row], cell: Cell, state: str) -> Row:
    router, queue, network, ipc, peer_calls, load = cell.key[2:]
    where = {"router": router, "queue": queue, "network_ms": network, "ipc_ms": ipc, "peer_calls": peer_calls, "load": load}
    return picked(measured, study=cell.study, state=state, **where)[0]


def _change(measured: Sequence[Row], cell: Cell, column: str, states: tuple[str, str] = (BEFORE, AFTER)) -> Change:
    old, new = (float(_row(measured, cell, state)[column]) for state in states)
    return Change(old, new)


# ---- RASA ----------------------------------------------------------------------------------------------------------------------


def rasa_lines(measured: Sequence[Row], parts: Sequence[Row]) -> list[str]:
    """Figures 11 to 13: the verdicts, then the four pairs."""
    base = BASE[RASA]
    latency, error = (_change(measured, base, column) for column in ("call_ms", "call_error"))
    gaps = [_gap(measured, base, column) for column in ("call_ms", "call_error")]
    pairs = [_pair(parts, number) for number in range(1, PAIRS + 1)]
    fall = [pair[0].share for pair in pairs], [pair[1].share for pair in pairs]
    local = _change(measured, base, "local")
    body = [
        _compared("weighted latency, WITHOUT to WITH (Figure 13)", latency, -0.2375, "ms"),
        _compared("weighted error rate (Figure 13)", error, -0.2409, "%"),
        _range("latency of four pairs (Figure 11)", fall[0], (-0.7216, -0.1677)),
        _range("error rate of four pairs (Figure 12)", fall[1], (-0.6442, -0.1327)),
        _near("latency, gap of WITH to ONLY COLLOCATED", gaps[0]),
        _near("error rate, gap of WITH to ONLY COLLOCATED", gaps[1]),
    ]
    moved, containers = (float(_row(measured, base, AFTER)[name]) for name in ("moved", "containers"))
    name = _row(measured, base, AFTER)["cluster"]
    scale = f"{name}: {containers:,.0f} containers, of which {moved:,.0f} move"
    about = f"{scale}; local calls {100 * local.old:.1f} % before, {100 * local.new:.1f} % after."
    return [*table(HEAD, body), "", RULE, "", about, "", *_pair_table(parts)]


def _compared(label: str, change: Change, paper: float, unit: str) -> list[str]:
    words = f"{_amount(change.old, unit)} to {_amount(change.new, unit)}"
    return [label, signed(paper), f"{signed(change.share)} ({words})", verdict(change.share, paper)]


def _amount(value: float, unit: str) -> str:
    return f"{100 * value:.3f} %" if unit == "%" else f"{value:.2f} ms" if value < 100 else f"{value:,.0f} ms"


def _range(label: str, ours: Sequence[float], paper: tuple[float, float]) -> list[str]:
    words = f"{signed(min(ours))} to {signed(max(ours))}"
    inside = all(paper[0] <= each <= paper[1] for each in ours)
    return [label, f"{signed(paper[0])} to {signed(paper[1])}", words, _range_verdict(inside, all(each < 0 for each in ours))]


def _range_verdict(inside: bool, same_sign: bool) -> str:
    return "reproduces" if inside else "same direction" if same_sign else "does not"


def _gap(measured: Sequence[Row], cell: Cell, column: str) -> float:
    """From WITH to ONLY COLLOCATED, in points of the metric normalised to WITHOUT, as the paper's figures are."""
    without, with_ours, only = (float(_row(measured, cell, state)[column]) for state in (BEFORE, AFTER, COLLOCATED))
    return (with_ours - only) / without


def points(gap: float) -> str:
    """'2.7 points'."""
    return f"{100 * gap:.1f} points"


def _near(label: str, gap: float) -> list[str]:
    return [label, "below 10 points", points(gap), "reproduces" if abs(gap) < 0.1 else "does not"]


def _pair(parts: Sequence[Row], number: int) -> tuple[Change, Change]:
    old, new = (picked(parts, study=RASA, state=state, part=f"pair {number}")[0] for state in (BEFORE, AFTER))
    return (
        Change(float(old["latency_ms"]), float(new["latency_ms"])),
        Change(float(old["error_rate"]), float(new["error_rate"])),
    )


def _pair_table(parts: Sequence[Row]) -> list[str]:
    states = (BEFORE, AFTER, COLLOCATED)
    head = (
        "pair",
        "of all traffic",
        "local before",
        "after",
        *(f"latency {PAPER[state]}" for state in states),
        "errors WITHOUT",
        "WITH",
    )
    body = []
    for number in range(1, PAIRS + 1):
        of = {state: picked(parts, study=RASA, state=state, part=f"pair {number}")[0] for state in states}
        shares = [f"{100 * float(of[BEFORE]['size']):.1f} %", *(f"{100 * float(of[s]['local']):.0f} %" for s in (BEFORE, AFTER))]
        times = [f"{float(of[state]['latency_ms']):.2f} ms" for state in states]
        errors = [f"{100 * float(of[state]['error_rate']):.3f} %" for state in (BEFORE, AFTER)]
        body.append([str(number), *shares, *times, *errors])
    return table(head, body)


def sensitivity_lines(measured: Sequence[Row]) -> list[str]:
    """How the change of the weighted latency and errors depends on the assumptions."""
    head = ("router", "ipc ms", "network ms", "latency", "error rate", "gap to ONLY COLLOCATED", "saturated machines after")
    mine = picked(measured, study=RASA, state=BEFORE, queue="ps")
    body = []
    for row in sorted(mine, key=lambda row: (ROUTERS.index(row["router"]), float(row["ipc_ms"]), float(row["network_ms"]))):
        numbers = {name: float(row[name]) for name in ("network_ms", "ipc_ms")}
        cell = Cell(study=RASA, state=BEFORE, router=row["router"], **numbers)
        latency, error = (signed(_change(measured, cell, column).share) for column in ("call_ms", "call_error"))
        full = _row(measured, cell, AFTER)["saturated"]
        body.append(
            [f"`{cell.router}`", row["ipc_ms"], row["network_ms"], latency, error, points(_gap(measured, cell, "call_ms")), full]
        )
    by_curve = signed(_change(measured, replace(BASE[RASA], queue="curve"), "call_ms").share)
    return [*table(head, body), "", f"With `queue=curve` and the other assumptions as stated, latency changes by {by_curve}."]


# ---- FreeContainer -------------------------------------------------------------------------------------------------------------


def freecontainer_lines(measured: Sequence[Row]) -> list[str]:
    """Figures 6(a) and 7, then other assumptions."""
    base = BASE[FREECONTAINER]
    columns = ("mean_ms", "above_80", "most_used", "max_load")
    response, hot, most, most_load = (_change(measured, base, column) for column in columns)
    body = [
        _compared("mean response time (Figure 6a)", response, 365 / 451 - 1.0, "ms"),
        ["servers above 80 % of CPU before (Figure 7a)", "about 800", f"{hot.old:,.0f}", "set: it fixes the load"],
        ["servers above 80 % of CPU after (Figure 7a)", "no long tail", f"{hot.new:,.0f}", _tail(hot)],
        ["fullest server's CPU", "not stated", f"{100 * most.old:.0f} % to {100 * most.new:.0f} %", ""],
        ["most traffic, all services raised together", "not stated", f"{most_load.old:.2f} to {most_load.new:.2f} times", ""],
        ["response time by CPU (Figure 7d)", "50, 200, 800 ms", "the same curve", "an input of the model, not a result"],
    ]
    row = _row(measured, base, AFTER)
    servers, containers, moved = (float(row[name]) for name in ("servers", "containers", "moved"))
    scale = f"{servers:,.0f} servers, {containers:,.0f} containers, of which {moved:,.0f} move"
    about = f"{scale}; load {float(row['times']):.3f} times that of the generated data centre."
    return [*table(HEAD, body), "", RULE, "", about, "", *_response_table(measured)]


def _tail(hot: Change) -> str:
    return "reproduces" if hot.new <= 0.05 * hot.old else "same direction" if hot.new < hot.old else "does not"


def _response_table(measured: Sequence[Row]) -> list[str]:
    head = ("queue", "load", "calls of a request", "network ms", "before", "after", "change", "p95 before", "p95 after")
    body = []
    for row in picked(measured, study=FREECONTAINER, state=BEFORE):
        cell = Cell(
            study=FREECONTAINER,
            state=BEFORE,
            queue=row["queue"],
            network_ms=float(row["network_ms"]),
            peer_calls=int(row["peer_calls"]),
            load=row["load"],
        )
        mean, tail = _change(measured, cell, "mean_ms"), _change(measured, cell, "p95_ms")
        numbers = [_amount(mean.old, "ms"), _amount(mean.new, "ms"), signed(mean.share), *(_amount(each, "ms") for each in tail)]
        body.append([f"`{cell.queue}`", cell.load, row["peer_calls"], row["network_ms"], *numbers])
    return table(head, body)


def service_lines(parts: Sequence[Row]) -> list[str]:
    """Table IX and Figure 6(b): the throughput of five services."""
    lines: list[str] = []
    for load, words in ((STRESS, "At the load of the stress test:"), (STATED, "At the load of the generated data centre:")):
        mine = picked(parts, study=FREECONTAINER, state=BEFORE, load=load)
        changes = [Change(float(row["max_load"]), _service_after(parts, row)) for row in mine]
        lines += [*([""] if lines else []), words, ""]
        lines += table(("service", "containers", "most traffic before", "after", "change"), _services(mine, changes))
        lines += ["", _service_verdict([change.share for change in changes])]
    return lines


def _service_verdict(shares: Sequence[float]) -> str:
    rise, inside = sum(share > 0 for share in shares), sum(0.3 <= share <= 0.9 for share in shares)
    ours = f"{signed(min(shares))} to {signed(max(shares))}; {rise} of {len(shares)} rise, {inside} of them by 30 to 90 %"
    return f"Paper: +30 % to +90 %. The model: {ours}: {_range_verdict(inside == len(shares), rise == len(shares))}."


def _service_after(parts: Sequence[Row], row: Row) -> float:
    return float(picked(parts, study=FREECONTAINER, state=AFTER, load=row["load"], part=row["part"])[0]["max_load"])


def _services(mine: Sequence[Row], changes: Sequence[Change]) -> Iterator[list[str]]:
    for row, change in zip(mine, changes, strict=True):
        factors = [f"{factor:.2f} times" for factor in change]
        yield [row["part"], f"{float(row['size']):,.0f}", *factors, signed(change.share)]


def simulated_lines(measured: Sequence[Row]) -> list[str]:
    """Formula and simulation side by side."""
    head = ("study", "state", "mean, formula", "mean, simulated", "p50", "p50, simulated", "p95", "p95, simulated")
    body = []
    for row in measured:
        if row["simulated_mean"]:
            mean = f"{float(row['simulated_mean']):.4g} ± {float(row['half_width']):.2g}"
            numbers = [f"{float(row[name]):.4g}" for name in ("p50_ms", "simulated_p50", "p95_ms", "simulated_p95")]
            body.append([row["study"], row["state"], f"{float(row['mean_ms']):.4g}", mean, *numbers])
    return [*table(head, body), "", "Milliseconds of whole requests; ± is half of the 95 % confidence interval."]
