"""Parquet tables as the native document that says the same: for its reader to say what is wrong with them."""

from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]


def tables_document(head: Mapping[str, Any], tables: Mapping[str, Any]) -> Row:
    """The document, in base units. Every container has a workload that is there; all else may be wrong."""
    names = list(head["resources"])
    machines = [_machine(row, names) for row in tables["machines"].to_pylist()]
    services = [_service(row) for row in tables["services"].to_pylist()] if "services" in tables else []
    traffic = [list(row.values()) for row in _edges(tables)]
    document = {
        **head,
        "amounts": "base-units",
        "machines": machines,
        "services": services,
        "workloads": [*_workloads(tables, names)],
        "traffic": traffic,
    }
    return {key: value for key, value in document.items() if key not in ("services", "traffic") or value}


def _by_resource(row: Row, prefix: str, names: list[str]) -> Row:
    """What a row says, by resource; null says nothing."""
    return {name: value for name in names if (value := row.get(f"{prefix}.{name}")) is not None}


def _machine(row: Row, names: list[str]) -> Row:
    at = {key.removeprefix("at."): group for key, group in row.items() if key.startswith("at.") and group is not None}
    machine = {"name": row["name"], "capacity": _by_resource(row, "capacity", names)}
    return machine | {key: part for key, part in {"safety": _by_resource(row, "safety", names), "at": at}.items() if part}


def _service(row: Row) -> Row:
    return {key: value for key, value in row.items() if key == "name" or value is not None}


def _edges(tables: Mapping[str, Any]) -> Iterator[Row]:
    if "traffic" in tables:
        yield from tables["traffic"].select(["from", "to", "weight"]).to_pylist()


def _workloads(tables: Mapping[str, Any], names: list[str]) -> Iterator[Row]:
    """One workload after the other, with its containers in the order of their table."""
    of: dict[str, list[Row]] = {}
    for row in tables["containers"].to_pylist():
        of.setdefault(row["workload"], []).append(row)
    named = "name" in tables["containers"].column_names
    for row in tables["workloads"].to_pylist():
        own = of.pop(row["name"], [])  # of two workloads of one name, the first has them
        listed = [_name(own_row, i) for i, own_row in enumerate(own)] if named and own else len(own)
        fields = {
            "name": row["name"],
            "service": row.get("service"),
            "request": _by_resource(row, "request", names),
            "usage": _usage(row, names) or None,
            "limit": _by_resource(row, "limit", names) or None,
            "containers": listed,
            "on": [own_row.get("machine") for own_row in own] or None,
        }
        yield {key: value for key, value in fields.items() if value is not None or key == "name"}


def _name(container: Row, i: int) -> str:
    """Its name, or the usual one of the i-th container of its workload."""
    name: str | None = container["name"]
    return f"{container['workload']}-{i}" if name is None else name


def _usage(row: Row, names: list[str]) -> Row:
    mean, std = _by_resource(row, "usage", names), _by_resource(row, "std", names)
    request = dict.fromkeys(names, 0) | _by_resource(row, "request", names)
    return {
        name: {"mean": mean.get(name, request[name]), "std": std.get(name, 0)} for name in names if name in mean or name in std
    }
