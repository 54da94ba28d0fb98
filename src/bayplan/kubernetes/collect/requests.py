"""What a pod requests, by the rule of Kubernetes: containers, init containers, sidecars, overhead, the pod itself, resizes.

The rule is that of the scheduler of 1.36. A sum over containers, at least what the greediest moment of initialisation needs;
amounts that the pod states for itself take the place of its containers' (cpu, memory, huge pages); overhead is added. Of a
container that is resized in place the largest of what is wanted, allocated and in use counts.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, TypeAlias

from bayplan.errors import Fault, InputError
from bayplan.kubernetes.client import Json
from bayplan.model.quantities import parse_quantity

Amounts: TypeAlias = dict[str, Fraction]
CPU, MEMORY, STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
SCALE = {CPU: 1000}  # base units of one; 1 for all others


def base_units(amounts: Mapping[str, Fraction]) -> dict[str, int]:
    """Whole base units, rounded up as the scheduler does: thousandths of a core, bytes, pieces."""
    return {name: ceil(amount * SCALE.get(name, 1)) for name, amount in amounts.items()}


def quantities(stated: Mapping[str, Any] | None, where: str) -> Amounts:
    """The amounts of a list of resources; InputError that says where, if one is no quantity."""
    return {name: _quantity(str(value), name, where) for name, value in (stated or {}).items()}


@lru_cache(maxsize=65536)
def _parsed(text: str) -> Fraction:
    return parse_quantity(text)


def _quantity(text: str, resource: str, where: str) -> Fraction:
    try:
        return _parsed(text)
    except ValueError:
        problem = f"amount of {resource} is not a quantity"
        fault = Fault(code="E2204", kind="object", name=where, problem=problem, value=text[:40], expected="such as 500m or 1Gi")
        raise InputError(where, [fault]) from None


def pod_request(pod: Json, where: str) -> dict[str, int]:
    """What a pod requests, in base units; `where` names it in messages."""
    spec, status = pod["spec"], pod.get("status") or {}
    infeasible = any(
        one.get("type") == "PodResizePending" and one.get("reason") == "Infeasible" for one in status.get("conditions") or ()
    )
    total = _of_containers(spec, status, infeasible, where)
    own = quantities((spec.get("resources") or {}).get("requests"), where)
    stated = {name: amount for name, amount in own.items() if _pod_level(name)}
    if stated and status.get("resources") is not None:
        states = (own, (status["resources"] or {}).get("requests"), status.get("allocatedResources"))
        effective = _effective(*states, infeasible, where)
        stated = {name: effective.get(name, Fraction(0)) for name in stated}
    total.update(stated)
    _add(total, quantities(spec.get("overhead"), where))
    return base_units(total)


def _pod_level(name: str) -> bool:
    """May a pod as a whole request this?"""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _of_containers(spec: Json, status: Json, infeasible: bool, where: str) -> Amounts:
    """The sum over containers, and at least what any moment of initialisation needs."""
    states = {one.get("name"): one for key in ("containerStatuses", "initContainerStatuses") for one in status.get(key) or ()}
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, _of_container(container, states, infeasible, where))
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in spec.get("initContainers") or ():
        restarts = container.get("restartPolicy") == "Always"
        request = _of_container(container, states if restarts else {}, infeasible, where)
        if restarts:
            _add(total, request)
            _add(sidecars, request)
            _raise_to(most, sidecars)
        else:
            moment = dict(sidecars)
            _add(moment, request)
            _raise_to(most, moment)
    _raise_to(total, most)
    return total


def _of_container(container: Json, states: Mapping[Any, Json], infeasible: bool, where: str) -> Amounts:
    wanted = (container.get("resources") or {}).get("requests")
    state = states.get(container.get("name"))
    if state is None or state.get("resources") is None:
        return quantities(wanted, where)
    used, allocated = state["resources"].get("requests"), state.get("allocatedResources")
    return _effective(quantities(wanted, where), used, allocated, infeasible, where)


def _effective(wanted: Amounts, used: Json | None, allocated: Json | None, infeasible: bool, where: str) -> Amounts:
    """The largest of what is wanted, in use and allocated; what cannot be had is not counted as wanted."""
    most: Amounts = {} if infeasible else dict(wanted)
    for stated in (used, allocated):
        _raise_to(most, quantities(stated, where))
    return most


def _add(total: Amounts, more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def _raise_to(total: Amounts, least: Mapping[str, Fraction]) -> None:
    for name, amount in least.items():
        if amount > total.get(name, Fraction(-1)):
            total[name] = amount


def resource_order(names: Iterable[str]) -> tuple[str, ...]:
    """cpu and memory first, the number of pods next, everything else by name."""
    first = (CPU, MEMORY, PODS)
    return (*first, *sorted(set(names) - set(first)))
