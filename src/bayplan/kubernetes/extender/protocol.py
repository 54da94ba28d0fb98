"""The scheduler extender protocol, version v1: what kube-scheduler sends, and the answers that it understands.

`{"Pod": {...}, "NodeNames": [...]}` if it was told that we know the nodes (`nodeCacheCapable: true`), `{"Pod": {...},
"Nodes": {"items": [...]}}` with whole nodes if not. Go reads keys in any case, and so do we.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.errors import Fault, InputError
from bayplan.kubernetes.client import Json
from bayplan.model import FloatArray

MOST = 10  # maxExtenderPriority of the protocol
_SHAPE = '{"Pod": {...}, "NodeNames": [...]} or {"Pod": {...}, "Nodes": {"items": [...]}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtenderArguments:
    """One question of kube-scheduler: a pod, and the nodes that are possible for it."""

    pod: Json
    names: tuple[str, ...]
    nodes: tuple[Json, ...] | None = None  # whole nodes, if the scheduler sends them; as `names`

    @property
    def pod_name(self) -> str:
        """`namespace/name`."""
        about = self.pod["metadata"]
        return f"{about.get('namespace', '')}/{about.get('name', '')}"

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the pod."""
        return self.pod["metadata"].get("annotations") or {}


def read_arguments(body: bytes) -> ExtenderArguments:
    """The question that a request's body asks; InputError if it asks none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _fault("E2501", "is not JSON", str(error)[:80]) from error
    if not isinstance(document, dict):
        raise _fault("E2502", "is not an object", type(document).__name__)
    known = {str(key).lower(): value for key, value in document.items()}
    pod, names, nodes = known.get("pod"), known.get("nodenames"), known.get("nodes")
    if not isinstance(pod, dict) or not isinstance(pod.get("metadata"), dict):
        raise _fault("E2502", "has no pod with metadata", _type(pod))
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise _fault("E2502", "has node names that are no list of texts", _type(names))
        return ExtenderArguments(pod=pod, names=tuple(names))
    return _with_nodes(pod, nodes)


def _with_nodes(pod: Json, nodes: Any) -> ExtenderArguments:
    items = nodes.get("items") if isinstance(nodes, dict) else None
    if items is None and not (isinstance(nodes, dict) and "items" in nodes):  # Go writes an empty list as null
        raise _fault("E2502", "has neither node names nor nodes", _type(nodes))
    whole = tuple(items or ())
    try:
        names = tuple(str(node["metadata"]["name"]) for node in whole)
    except (KeyError, TypeError) as error:
        raise _fault("E2502", "has a node without a name", _type(items)) from error
    return ExtenderArguments(pod=pod, names=names, nodes=whole)


def filter_result(arguments: ExtenderArguments, passed: Sequence[str], refusal: str) -> Json:
    """`ExtenderFilterResult`: the nodes that pass, in the form in which they came; all others are refused for a reason.

    They are *unresolvable*: no eviction of other pods would make them possible, so kube-scheduler does not try any.
    """
    keep = frozenset(passed)
    refused = {name: refusal for name in arguments.names if name not in keep} if refusal else {}
    result: Json = {"Nodes": None, "NodeNames": None, "FailedNodes": {}, "FailedAndUnresolvableNodes": refused, "Error": ""}
    if arguments.nodes is None:
        result["NodeNames"] = [name for name in arguments.names if name in keep]
    else:
        items = [node for name, node in zip(arguments.names, arguments.nodes, strict=True) if name in keep]
        result["Nodes"] = {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items}
    return result


def priority_list(names: Sequence[str], preference: FloatArray) -> list[Json]:
    """`HostPriorityList`: a whole number from 0 to 10 for each node; only the most preferred has 10."""
    return [{"Host": name, "Score": score} for name, score in zip(names, (MOST * preference).astype(int).tolist(), strict=True)]


def _type(value: object) -> str:
    return "null" if value is None else type(value).__name__


def _fault(code: str, problem: str, value: str) -> InputError:
    expected = _SHAPE if code == "E2502" else "a JSON object"
    return InputError("request", [Fault(code=code, kind="request", name="", problem=problem, value=value, expected=expected)])
