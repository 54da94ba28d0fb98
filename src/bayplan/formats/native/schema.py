"""The shape of the native files, as the JSON Schema that `docs/schema/` publishes."""

from collections.abc import Mapping
from typing import Any

from bayplan.formats.document.schemas import PLAIN_NAME
from bayplan.model import Term
from bayplan.model.quantities import LARGEST

VERSION = 1
QUANTITY = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3}|[KMGTPE]i|[numkMGTPE]| ?([kKMGTPE]|[KMGTPE]i)?B)?$"
SHARE = r"^(100|[1-9]?[0-9]|[1-9]?[0-9]\.[0-9]+)%$"  # of a capacity
MOST_REPLICAS = 1_000_000  # of one workload
MOST_REAL = 1e15  # of traffic, weights and distances: scores stay finite

NAME = {"type": "string", "minLength": 1, "pattern": PLAIN_NAME}
KEY = {"minLength": 1, "pattern": PLAIN_NAME}
NEW_NAMES = {"type": "array", "items": NAME}
NAMES = {"type": "array", "items": {"type": "string"}}  # of things that have theirs elsewhere
SOME_NAMES = {**NAMES, "minItems": 1}
WHOLE = {"type": "integer", "minimum": 0, "maximum": LARGEST}
REAL = {"type": "number", "minimum": 0, "maximum": MOST_REAL}
AMOUNT = {"$ref": "#/$defs/amount"}
AMOUNTS = {"$ref": "#/$defs/amounts"}
LEVEL = {"type": "string", "description": "'machine' or one of `levels`; 'machine' if left out"}


def _object(properties: Mapping[str, Any], *required: str, about: str = "") -> dict[str, Any]:
    """An object with these keys and no others."""
    shape: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    shape |= {"required": list(required)} if required else {}
    return shape | ({"description": about} if about else {})


def _map(values: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """An object with free keys."""
    shape: dict[str, Any] = {"type": "object", "propertyNames": KEY, "additionalProperties": dict(values)}
    return shape | ({"description": about} if about else {})


def _rule(kind: str, about: str, properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return _object({"rule": {"type": "string", "const": kind}, **properties}, "rule", *required, about=about)


RULE_SHAPES = [
    _rule("capacity", "Requests stay within capacity; [] limits nothing; all resources if left out.", {"resources": NAMES}),
    _rule(
        "anti-affinity",
        "At most `limit` (1) containers of these workloads together in one group.",
        {"workloads": SOME_NAMES, "limit": {**WHOLE, "minimum": 1}, "level": LEVEL},
        "workloads",
    ),
    _rule(
        "spread",
        "A service uses at least `minimum` groups.",
        {"service": NAME, "minimum": {**WHOLE, "minimum": 1}, "level": LEVEL},
        "service",
        "minimum",
    ),
    _rule(
        "skew",
        "No group with a container of `workload` has over `limit` (1) more of those `counted` (of `workload`) than the emptiest "
        "group of `machines` (all); fewer than `min_groups` (0) groups: than none.",
        {
            "workload": NAME,
            "counted": SOME_NAMES,
            "limit": {**WHOLE, "minimum": 1},
            "level": LEVEL,
            "machines": NAME,
            "min_groups": WHOLE,
        },
        "workload",
    ),
    _rule("co-locate", "These containers run on one machine.", {"containers": {**NAMES, "minItems": 2}}, "containers"),
    _rule(
        "allow",
        "These workloads run only on machines of this set.",
        {"workloads": SOME_NAMES, "machines": NAME},
        "workloads",
        "machines",
    ),
    _rule(
        "dependency",
        "Every container of `service` has one of `on` in its group.",
        {"service": NAME, "on": NAME, "level": LEVEL},
        "service",
        "on",
    ),
    _rule(
        "transient",
        "A moving container is charged on both machines; joint (left out): until all moves have ended.",
        {"resource": NAME, "mode": {"type": "string", "enum": ["joint", "sequential"]}},
        "resource",
    ),
    _rule(
        "interference",
        "Where `a` runs, at most `limit` containers of `b` run.",
        {"a": NAME, "b": NAME, "limit": WHOLE, "level": LEVEL},
        "a",
        "b",
        "limit",
    ),
    {
        **_rule(
            "pinned",
            "These containers, and all containers of these workloads, may not move.",
            {"containers": SOME_NAMES, "workloads": SOME_NAMES},
        ),
        "minProperties": 2,
    },
    _rule(
        "confidence",
        "P(usage <= capacity) >= alpha on every machine.",
        {"resource": NAME, "alpha": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}},
        "resource",
        "alpha",
    ),
]

MOVE_COSTS = _object(
    {
        "container": {"anyOf": [WHOLE, _map(WHOLE)], "description": "One price for all, or by workload; 0 if left out."},
        "machine": {"type": "array", "items": {"type": "array", "items": WHOLE}, "description": "Price from (row) to (column)."},
        "container_weight": WHOLE,
        "service_weight": WHOLE,
        "machine_weight": WHOLE,
    }
)

TARGET = _object({"r1": NAME, "r2": NAME, "target": WHOLE, "weight": WHOLE}, "r1", "r2", "target", "weight")

OBJECTIVE = _object(
    {
        "weights": _object({term.value: REAL for term in Term}, about="A term that is left out does not count."),
        "ratios": {
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [NAME, NAME, {"type": "number", "minimum": 1e-18, "maximum": 1e18}],
                "minItems": 3,
                "maxItems": 3,
            },
            "description": "[r, r', t]: t units of r for one of r'; 1 if left out.",
        },
        "hops": _map(REAL, "Distance that two machines gain by not sharing this level; machine 1, others 0."),
        "overload_weights": _map(REAL, "Price of one base unit above safety, by resource; 1 / the largest capacity if left out."),
        "targets": {"type": "array", "items": TARGET},
        "move_costs": MOVE_COSTS,
    },
    about="What is good; left out: the default of [FreeContainer] §VI-B.",
)

SAFETY = {
    "anyOf": [
        _map({"type": ["number", "string"], "minimum": 0, "pattern": f"{QUANTITY}|{SHARE}"}),
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "string", "pattern": SHARE},
    ],
    "description": "Load above it is overload. By resource, or a share of the capacity (80%, 0.8); the capacity where left out.",
}

MACHINE_SHAPE = _object(
    {
        "name": NAME,
        "capacity": AMOUNTS,
        "safety": SAFETY,
        "at": _map(NAME, "Its group at every level."),
    },
    "name",
    "capacity",
)

REPLICAS = {"type": "integer", "minimum": 0, "maximum": MOST_REPLICAS}

USAGE = {"anyOf": [AMOUNT, _object({"mean": AMOUNT, "std": AMOUNT}, "mean")]}

WORKLOAD_SHAPE = _object(
    {
        "name": NAME,
        "service": {**NAME, "description": "The service of its own name if left out."},
        "request": AMOUNTS,
        "usage": _map(USAGE, "Mean, or mean and std; the request where left out."),
        "limit": {**AMOUNTS, "description": "None where left out."},
        "containers": {
            "anyOf": [REPLICAS, NEW_NAMES],
            "description": "Their number, called <workload>-0, -1, ...; or their names. 1 if left out.",
        },
        "replicas": {**REPLICAS, "description": "The number of containers, if `containers` is left out."},
        "on": {
            "type": "array",
            "items": {"type": ["string", "null"]},
            "description": "The machine of each container, null for none; nothing is placed if left out.",
        },
    },
    "name",
    "request",
)

TRAFFIC_WEIGHT = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_REAL}

SNAPSHOT: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "bayplan snapshot",
    **_object(
        {
            "bayplan": {"type": "integer", "const": VERSION, "description": "The version of this format."},
            "name": {"type": "string"},
            "notes": NAMES,
            "amounts": {"type": "string", "enum": ["units", "base-units"], "description": "How amounts are written; 'units'."},
            "resources": {
                **_map(_object({"scale": {"type": "integer", "minimum": 1, "maximum": LARGEST}, "unit": {"type": "string"}})),
                "minProperties": 1,
            },
            "defaults": _object({"safety": SAFETY}, about="For every machine that does not state its own."),
            "levels": {
                "type": "array",
                "items": {"anyOf": [NAME, _object({"name": NAME, "groups": NEW_NAMES}, "name", "groups")]},
            },
            "machines": {"type": "array", "items": MACHINE_SHAPE, "minItems": 1},
            "machine_sets": _map(NAMES),
            "services": {"type": "array", "items": _object({"name": NAME, "clique": REAL}, "name")},
            "workloads": {"type": "array", "items": WORKLOAD_SHAPE, "minItems": 1},
            "traffic": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"type": "array", "prefixItems": [NAME, NAME, TRAFFIC_WEIGHT], "minItems": 3, "maxItems": 3},
                        _object({"from": NAME, "to": NAME, "weight": TRAFFIC_WEIGHT}, "from", "to", "weight"),
                    ]
                },
                "description": "[workload, workload, weight], or from, to and weight; undirected: parallel edges are added up.",
            },
            "rules": {"type": "array", "items": {"oneOf": RULE_SHAPES}},
            "objective": OBJECTIVE,
        },
        "bayplan",
        "resources",
        "machines",
        "workloads",
    ),
    "$defs": {
        "amount": {"type": ["number", "string"], "minimum": 0, "pattern": QUANTITY},
        "amounts": _map(AMOUNT, "By resource; 0 where left out."),
    },
}

PLACEMENT: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "bayplan placement",
    **_object({"placement": _map({"type": ["string", "null"]}, "Machine of each container; no key or null: none.")}, "placement"),
}
