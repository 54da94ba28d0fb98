"""One case of the stress test: an input, a verb, a method and options, all drawn from one seed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.stress.drawn_clusters import Rng, chance, drawn_snapshot, one_of
from tests.stress.drawn_requests import drawn_requests, drawn_stream

import bayplan as bp
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.collocate.options import TRIVIAL
from bayplan.decide.collocate.partition import PARTITIONERS
from bayplan.decide.collocate.select import SELECTORS
from bayplan.errors import InputError
from bayplan.formats.native import native_document, read_native, text_of
from bayplan.formats.requests import RequestsFile
from bayplan.model import (
    UNPLACED,
    Cluster,
    ClusterRequests,
    Confidence,
    Rule,
    Snapshot,
    Term,
    Transient,
    Way,
    ints,
)
from bayplan.model.goal import GOALS
from bayplan.score.uncertainty import Uncertainty

VERBS = ("place", "rebalance", "collocate", "pack", "admit", "schedule", "migrate")
GOAL_NAMES = tuple(("plan", name) for name in GOALS)
INSTRUMENTS = (*GOAL_NAMES, ("machines_needed", "csp-machines"), ("explain", ""), ("show", ""))
PRICED = ("learned", "primal-dual", "swmoa")
ON_COMMAND_LINE = 0.12  # share of the cases
IN_A_POOL = 0.01  # of those that have a choice of engines

Input = Snapshot | RequestsFile | ClusterRequests


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is asked. `options` are keywords of the library; `target` (of migrate) says by name where containers are to run."""

    seed: int
    verb: str
    method: str
    value: Input
    options: Mapping[str, Any]
    threads: int = 1
    iterations: int = 30
    seconds: float = 1.0
    on_command_line: bool = False
    target: Mapping[str, str | None] | None = None


def pairs() -> list[tuple[str, str]]:
    """Every verb with each of its methods, and the instruments."""
    return [*((verb, method) for verb in VERBS for method in bp.methods(verb)), *INSTRUMENTS]


def case_of(seed: int, only: tuple[str, str] | None = None) -> Case:
    """The case of a seed; `only`: of this verb and method."""
    rng = np.random.default_rng([seed, 15])
    verb, method = one_of(rng, pairs())
    if only is not None:
        verb, method = only
    on_command_line = chance(rng, ON_COMMAND_LINE)
    frame: dict[str, Any] = {
        "seed": seed,
        "verb": verb,
        "method": method,
        "threads": 2 if chance(rng, 0.15) else 1,
        "iterations": int(one_of(rng, (0, 1, 10, 30, 60))),
        "on_command_line": on_command_line,
    }
    if verb == "schedule":
        requests, fleet = drawn_requests(rng)
        value = RequestsFile(requests=requests, fleet=fleet)
        return Case(**frame, value=value, options=_schedule_options(value, method, rng))
    if verb == "admit":
        stream = drawn_stream(rng)
        return Case(**frame, value=_fitting(stream) if on_command_line else stream, options=_admit_options(method, rng))
    snapshot = drawn_snapshot(rng)
    if verb == "migrate" and chance(rng, 0.6):
        snapshot = _roomy(snapshot, rng)
    if verb == "collocate" and method not in ("best", "original") and chance(rng, 0.85):
        snapshot = _without_rules(snapshot, Transient, Confidence)
    if on_command_line:
        readable = _readable(snapshot)
        snapshot, frame["on_command_line"] = readable or snapshot, readable is not None
    target = _target(snapshot, rng) if verb == "migrate" else None
    return Case(**frame, value=snapshot, options=_OPTIONS[verb](snapshot, method, rng), target=target)


def _roomy(snapshot: Snapshot, rng: Rng) -> Snapshot:
    """With machines of three times the size and few rules, so that most targets can be reached."""
    machines = snapshot.cluster.machines
    kept = tuple(rule for rule in snapshot.cluster.rules if rule.kind == "capacity" or chance(rng, 0.2))
    large = replace(machines, capacity=ints(machines.capacity * 3))
    return replace(snapshot, cluster=replace(snapshot.cluster, machines=large, rules=kept))


def _without_rules(snapshot: Snapshot, *kinds: type[Rule]) -> Snapshot:
    kept = tuple(rule for rule in snapshot.cluster.rules if not isinstance(rule, kinds))
    return replace(snapshot, cluster=replace(snapshot.cluster, rules=kept))


def _readable(snapshot: Snapshot) -> Snapshot | None:
    """Without the rules that no file may have, such as those that nothing can keep; None if no file can state the cluster."""
    document = json.loads(text_of(native_document(snapshot)))
    while True:
        try:
            return read_native(document, "drawn")
        except InputError as error:
            wrong = {int(fault.name.split(" ")[0]) for fault in error.faults if fault.kind == "rule"}
            if not wrong:
                return None
            document["rules"] = [rule for number, rule in enumerate(document["rules"], start=1) if number not in wrong]


def _fitting(stream: ClusterRequests) -> ClusterRequests:
    """Without requests of which a member fits into no zone: no file may have them."""
    zones = stream.zones
    most = np.minimum(zones.capacity, zones.request_cap)
    kept = [request for request in stream.requests if all((demand <= most).all(axis=1).any() for demand in request.demand)]
    return replace(stream, requests=tuple(kept))


# ---- options -------------------------------------------------------------------------------------------------------------------


def _place_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    return {"candidates": int(rng.integers(1, 5))} if chance(rng, 0.5) else {}


def _move_options(snapshot: Snapshot, rng: Rng) -> dict[str, Any]:
    """A cap on moves, and containers that stay."""
    options: dict[str, Any] = {}
    if chance(rng, 0.3):
        options["max_moves"] = one_of(rng, (0, 1, 2, 5, "0%", "30%", "100%"))
    if chance(rng, 0.2) and len(snapshot.cluster.containers.name):
        options["freeze"] = [one_of(rng, _names(snapshot.cluster))]
    return options


def _names(cluster: Cluster) -> tuple[str, ...]:
    """Names and patterns that match a container."""
    used = [name for name, count in zip(cluster.workloads.name, cluster.replicas.tolist(), strict=True) if count]
    return (*cluster.containers.name, *used, "*", "w0*") if "w0" in used else (*cluster.containers.name, *used, "*")


def _rebalance_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    options = _move_options(snapshot, rng)
    if chance(rng, 0.2):
        options["objective"] = one_of(rng, ("freecontainer", "steady"))
    if chance(rng, 0.3):
        options["weights"] = {one_of(rng, tuple(Term)).value: float(one_of(rng, (0.0, 1e-9, 1.0, 1e6)))}
    if method == "sweep-search" and chance(rng, 0.5):
        options |= {"delta": float(one_of(rng, (0.02, 0.3, 0.5))), "safety": float(one_of(rng, (0.0, 0.3, 1.0)))}
    if chance(rng, 0.1):
        options["target"] = float(one_of(rng, (-1e9, 0.0, 0.1, 1e9)))
    return options


def _collocate_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    options = _move_options(snapshot, rng)
    options["engine"] = "pool" if method in ("rasa", "pop") and chance(rng, IN_A_POOL) else "here"
    options["bound"] = chance(rng, 0.5)
    options["safety"] = chance(rng, 0.5)
    if method == "best" and chance(rng, 0.25):
        options["weights"] = {one_of(rng, tuple(Term)).value: float(one_of(rng, (0.0, 1e-9, 1.0, 1e6)))}
    if method == "rasa":
        options |= {"partition": one_of(rng, tuple(PARTITIONERS)), "select": one_of(rng, tuple(SELECTORS))}
        options["trivial"] = one_of(rng, TRIVIAL)
        if chance(rng, 0.3):
            options["masters"] = int(rng.integers(1, 4))
    if chance(rng, 0.2):
        options["move_price"] = float(one_of(rng, (1e-9, 0.1, 1.0, 100.0)))
    if chance(rng, 0.1):
        options["least_gain"] = float(one_of(rng, (0.01, 0.5, 1.0)))
    if chance(rng, 0.1) and len(snapshot.cluster.workloads.name):
        options["priority"] = {one_of(rng, snapshot.cluster.workloads.name): float(one_of(rng, (1e-6, 0.5, 5.0, 1e6)))}
    return options


def _plan_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    options = _move_options(snapshot, rng)
    if chance(rng, 0.4):
        options["alive"] = float(one_of(rng, (0.0, 0.5, 0.75, 1.0)))
    if chance(rng, 0.2):
        options["way"] = one_of(rng, tuple(Way)).value
    if chance(rng, 0.2):
        options["weights"] = {one_of(rng, ("balance", "local-traffic", "price")): float(one_of(rng, (0.0, 1e-9, 1.0, 1e6)))}
    if chance(rng, 0.1):
        options["front"] = True
    if chance(rng, 0.3) and len(snapshot.cluster.machines.name):
        options["drain"] = one_of(rng, snapshot.cluster.machines.name)
    return options


def _pack_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    options: dict[str, Any] = {}
    cluster = snapshot.cluster
    stated = any(isinstance(rule, Confidence) for rule in cluster.rules)
    if not stated or chance(rng, 0.4):
        options["confidence"] = float(one_of(rng, (0.51, 0.9, 0.99, 0.9999)))
    if chance(rng, 0.3):
        options["resource"] = one_of(rng, cluster.resources).name
    if chance(rng, 0.4):
        options["uncertainty"] = one_of(rng, [str(model) for model in Uncertainty if model != Uncertainty.EMPIRICAL])
    if chance(rng, 0.2) and len(cluster.containers.name):
        options["confidence_of"] = {one_of(rng, _names(cluster)): float(one_of(rng, (0.6, 0.999)))}
    if chance(rng, 0.2) and len(cluster.workloads.name):
        options["samples"] = {name: rng.integers(0, 8, 12).astype(float).tolist() for name in cluster.workloads.name}
        if chance(rng, 0.5):
            options["uncertainty"] = str(Uncertainty.EMPIRICAL)
    if method == "bf-nsigma" and chance(rng, 0.5):
        options["n_sigma"] = float(one_of(rng, (0.0, 1.0, 5.0)))
    return options


def _migrate_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    options: dict[str, Any] = {
        "alive": float(one_of(rng, (0.0, 0.5, 0.75, 0.75, 1.0))),
        "way": one_of(rng, tuple(Way)).value,
        "relabel": chance(rng, 0.3),
        "delete_missing": chance(rng, 0.5),
        "stopovers": not chance(rng, 0.3),
    }
    workloads = snapshot.cluster.workloads.name
    if chance(rng, 0.2) and workloads:
        options[one_of(rng, ("replace", "surge"))] = [one_of(rng, workloads)]
    if chance(rng, 0.1) and len(snapshot.cluster.containers.name):
        options["never"] = [one_of(rng, _names(snapshot.cluster))]
    if chance(rng, 0.1) and len(snapshot.cluster.containers.name):
        options["late"] = {one_of(rng, _names(snapshot.cluster)): 3.0}
    if chance(rng, 0.25):
        options["limits"] = {one_of(rng, ("batch", "machine", "service")): int(rng.integers(1, 5))}
    return options


def _target(snapshot: Snapshot, rng: Rng) -> dict[str, str | None]:
    """Most containers stay; some are moved, exchanged, deleted or created."""
    n_m, machine_of = len(snapshot.cluster.machines.name), snapshot.placement.machine_of.copy()
    chosen = rng.permutation(len(machine_of))[: int(rng.choice([0, 1, 2, 3, 5, 9]))]
    if chance(rng, 0.5):
        machine_of[chosen] = rng.permutation(machine_of[chosen])
    elif n_m:
        machine_of[chosen] = rng.integers(UNPLACED if chance(rng, 0.3) else 0, n_m, len(chosen))
    machine = snapshot.cluster.machines.name
    return {
        name: None if m == UNPLACED else machine[m]
        for name, m in zip(snapshot.cluster.containers.name, machine_of.tolist(), strict=True)
    }


def _schedule_options(value: RequestsFile, method: str, rng: Rng) -> dict[str, Any]:
    options: dict[str, Any] = {"bound": chance(rng, 0.8)}
    if chance(rng, 0.2):
        options["weights"] = one_of(rng, ("one", "area"))
    if value.requests.priority and chance(rng, 0.6):
        options["profit"] = {value.requests.priority[0]: float(one_of(rng, (0.0, 1e-10, 3.0, 1e12)))}
    return options


def _admit_options(method: str, rng: Rng) -> dict[str, Any]:
    options: dict[str, Any] = {"bound": chance(rng, 0.6)}
    if method not in ("available", "offline") and chance(rng, 0.7):
        options["one_shot"] = one_of(rng, tuple(ONE_SHOTS))
    if options.get("one_shot") == "sampling":
        options |= {"samples": int(rng.integers(1, 4))} if chance(rng, 0.5) else {"epsilon": 0.9}
    if method in PRICED:
        if chance(rng, 0.4):
            options["value_ratio"] = float(one_of(rng, (1.0, 50.0, 1e12)))
        if chance(rng, 0.2):
            options["literal"] = True
    if method == "primal-dual" and chance(rng, 0.4):
        options["alpha"] = float(one_of(rng, (1.0, 2.0, 100.0)))
    if method == "swmoa" and chance(rng, 0.4):
        options["slots"] = int(rng.integers(1, 9))
    if chance(rng, 0.2):
        options["slot"] = float(one_of(rng, (0.1, 0.5, 3.0, 1e9)))
    return options


def _no_options(snapshot: Snapshot, method: str, rng: Rng) -> dict[str, Any]:
    return {}


_OPTIONS = {
    "plan": _plan_options,
    "place": _place_options,
    "rebalance": _rebalance_options,
    "collocate": _collocate_options,
    "pack": _pack_options,
    "machines_needed": _pack_options,
    "migrate": _migrate_options,
    "explain": _no_options,
    "show": _no_options,
}
