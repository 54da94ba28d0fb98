"""The tables of both studies: what was claimed and what the model gives, then the numbers behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from experiments.production.changes import change_of, gap_of, row_of, service_changes, signed
from experiments.production.claims import amount, freecontainer_claims, points, rasa_claims
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
from experiments.verdicts import RULE, claim_table

PAPER = {BEFORE: "WITHOUT", AFTER: "WITH", COLLOCATED: "ONLY COLLOCATED"}


# ---- RASA ----------------------------------------------------------------------------------------------------------------------


def rasa_lines(measured: Sequence[Row], parts: Sequence[Row]) -> list[str]:
    """Figures 11 to 13: the verdicts, then the four pairs."""
    base = BASE[RASA]
    local = change_of(measured, base, "local")
    moved, containers = (float(row_of(measured, base, AFTER)[name]) for name in ("moved", "containers"))
    name = row_of(measured, base, AFTER)["cluster"]
    scale = f"{name}: {containers:,.0f} containers, of which {moved:,.0f} move"
    about = f"{scale}; local calls {100 * local.old:.1f} % before, {100 * local.new:.1f} % after."
    return [*claim_table(rasa_claims(measured, parts)), "", RULE, "", about, "", *_pair_table(parts)]


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
        latency, error = (signed(change_of(measured, cell, column).share) for column in ("call_ms", "call_error"))
        full = row_of(measured, cell, AFTER)["saturated"]
        body.append(
            [
                f"`{cell.router}`",
                row["ipc_ms"],
                row["network_ms"],
                latency,
                error,
                points(gap_of(measured, cell, "call_ms")),
                full,
            ]
        )
    by_curve = signed(change_of(measured, replace(BASE[RASA], queue="curve"), "call_ms").share)
    return [*table(head, body), "", f"With `queue=curve` and the other assumptions as stated, latency changes by {by_curve}."]


# ---- FreeContainer -------------------------------------------------------------------------------------------------------------


def freecontainer_lines(measured: Sequence[Row]) -> list[str]:
    """Figures 6(a) and 7, then other assumptions."""
    base = BASE[FREECONTAINER]
    hot, most, most_load = (change_of(measured, base, column) for column in ("above_80", "most_used", "max_load"))
    judged = [claim for claim in freecontainer_claims(measured, ()) if claim.where.startswith("Figure")]
    body = [
        ["servers above 80 % of CPU before (Figure 7a)", "about 800", f"{hot.old:,.0f}", "set: it fixes the load"],
        ["fullest server's CPU", "not stated", f"{100 * most.old:.0f} % to {100 * most.new:.0f} %", "-"],
        ["most traffic, all services raised together", "not stated", f"{most_load.old:.2f} to {most_load.new:.2f} times", "-"],
        ["response time by CPU (Figure 7d)", "50, 200, 800 ms", "the same curve", "an input of the model, not a result"],
    ]
    others = table(("beside it", "paper", "the model", "what it is"), body)
    row = row_of(measured, base, AFTER)
    servers, containers, moved = (float(row[name]) for name in ("servers", "containers", "moved"))
    scale = f"{servers:,.0f} servers, {containers:,.0f} containers, of which {moved:,.0f} move"
    about = f"{scale}; load {float(row['times']):.3f} times that of the generated data centre."
    return [*claim_table(judged), "", *others, "", about, "", *_response_table(measured)]


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
        mean, tail = change_of(measured, cell, "mean_ms"), change_of(measured, cell, "p95_ms")
        numbers = [amount(mean.old, "ms"), amount(mean.new, "ms"), signed(mean.share), *(amount(each, "ms") for each in tail)]
        body.append([f"`{cell.queue}`", cell.load, row["peer_calls"], row["network_ms"], *numbers])
    return table(head, body)


def service_lines(measured: Sequence[Row], parts: Sequence[Row]) -> list[str]:
    """Table IX and Figure 6(b): the throughput of five services."""
    lines: list[str] = []
    for load, words in ((STRESS, "At the load of the stress test:"), (STATED, "At the load of the generated data centre:")):
        lines += [*([""] if lines else []), words, ""]
        lines += table(("service", "containers", "most traffic before", "after", "change"), _services(parts, load))
    claims = [claim for claim in freecontainer_claims(measured, parts) if "throughput" in claim.text]
    return [*lines, "", *claim_table(claims)]


def _services(parts: Sequence[Row], load: str) -> Iterator[list[str]]:
    for service, (size, change) in service_changes(parts, load).items():
        factors = [f"{factor:.2f} times" for factor in change]
        yield [service, f"{size:,.0f}", *factors, signed(change.share)]


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
