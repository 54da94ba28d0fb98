"""Owners: the controller at the top of each pod's chain of owners, and whether it is changing its pods now."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.marks import DO_NOT_MOVE, HOLD_REASON, HOLD_UNTIL

CHAINED = ("ReplicaSet", "Job")  # kinds that usually have an owner of their own
SETTLED = ("NewReplicaSetAvailable", "DeploymentPaused", "DeploymentResumed")  # reasons of "Progressing" when nothing goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What keeps a number of pods: a Deployment, a StatefulSet, a DaemonSet, ...; or a pod without owner, as its own."""

    namespace: str
    kind: str
    name: str
    uid: str = ""
    known: bool = True  # was the object itself read, and all those between it and its pods?
    replicas: int | None = None  # how many pods it keeps; None if it does not say
    changing: str = ""  # "in rollout", "scaling"; empty if it is settled
    scaled_by: str = ""  # the name of the autoscaler that sets its number of replicas
    do_not_move: bool = False
    hold_until: str = ""  # RFC 3339
    hold_reason: str = ""


class Owners:
    """Finds the owner at the top of a pod's chain."""

    def __init__(self, objects: Objects) -> None:
        kinds = [kind for kind in objects.items if kind not in ("Pod", "Node")]
        self._by_uid = {item["metadata"].get("uid"): item for kind in kinds for item in objects.of(kind)}
        self._scalers = {_target(hpa): hpa for hpa in objects.of("HorizontalPodAutoscaler")}
        self._known: dict[tuple[str, str], Owner] = {}

    def of(self, pod: Json) -> Owner:
        """The owner of a pod; the pod itself, if it has none."""
        metadata = pod["metadata"]
        reference = controller(metadata)
        namespace = str(metadata.get("namespace", ""))
        if reference is None or reference.get("kind") == "Node":  # a mirror of a static pod is owned by its node
            kind = "Pod" if reference is None else "Node"
            return Owner(namespace=namespace, kind=kind, name=str(metadata["name"]), uid=str(metadata.get("uid", "")))
        key = (namespace, str(reference.get("uid")))
        if key not in self._known:
            self._known[key] = self._top(namespace, reference)
        return self._known[key]

    def _top(self, namespace: str, reference: Json) -> Owner:
        """Follow the references up. What was not read ends the chain: its own owner cannot be known."""
        known = True
        while (item := self._by_uid.get(reference.get("uid"))) is not None:
            above = controller(item["metadata"])
            if above is None:
                break
            reference = above
        else:
            known = reference.get("kind") not in CHAINED and reference.get("kind") not in ("Deployment", "StatefulSet")
        return self._owner(namespace, reference, item, known)

    def _owner(self, namespace: str, reference: Json, item: Json | None, known: bool) -> Owner:
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        annotations = {} if item is None else item["metadata"].get("annotations") or {}
        scaler = self._scalers.get((namespace, kind, name))
        return Owner(
            namespace=namespace,
            kind=kind,
            name=name,
            uid=str(reference.get("uid", "")),
            known=known,
            replicas=None if item is None else (item.get("spec") or {}).get("replicas"),
            changing="" if item is None else changing(item, scaler),
            scaled_by="" if scaler is None else str(scaler["metadata"]["name"]),
            do_not_move=annotations.get(DO_NOT_MOVE) == "true",
            hold_until=str(annotations.get(HOLD_UNTIL, "")),
            hold_reason=str(annotations.get(HOLD_REASON, "")),
        )


def controller(metadata: Mapping[str, object]) -> Json | None:
    """The owner that controls an object; None if none does."""
    references = metadata.get("ownerReferences") or ()
    assert isinstance(references, list | tuple)
    return next((one for one in references if one.get("controller")), None)


def _target(hpa: Json) -> tuple[str, str, str]:
    target = (hpa.get("spec") or {}).get("scaleTargetRef") or {}
    return str(hpa["metadata"].get("namespace", "")), str(target.get("kind")), str(target.get("name"))


def changing(item: Json, scaler: Json | None = None) -> str:
    """What a controller is doing to its pods: 'in rollout' or 'scaling'; empty if it is settled."""
    if _in_rollout(item):
        return "in rollout"
    spec, status = item.get("spec") or {}, item.get("status") or {}
    if "replicas" in spec and int(status.get("replicas") or 0) != int(spec["replicas"]):
        return "scaling"
    state = {} if scaler is None else scaler.get("status") or {}
    if state and int(state.get("desiredReplicas") or 0) != int(state.get("currentReplicas") or 0):
        return "scaling"
    return ""


def _in_rollout(item: Json) -> bool:
    """Do its pods become others? By the numbers that `kubectl rollout status` looks at."""
    kind, status = item.get("kind"), item.get("status") or {}
    if "observedGeneration" in status and int(status["observedGeneration"]) < int(item["metadata"].get("generation") or 0):
        return True
    if kind == "Deployment":
        progress = next((one for one in status.get("conditions") or () if one.get("type") == "Progressing"), None)
        updated, replicas = int(status.get("updatedReplicas") or 0), int(status.get("replicas") or 0)
        unsettled = progress is not None and progress.get("reason") not in SETTLED
        return unsettled or updated < replicas
    if kind == "StatefulSet":
        revisions = (status.get("currentRevision"), status.get("updateRevision"))
        return None not in revisions and revisions[0] != revisions[1]
    return False


def workload_names(owners: Iterable[Owner]) -> dict[Owner, str]:
    """Each owner's name in the model: 'namespace/name', with its kind where two owners of one namespace share a name."""
    distinct = sorted(set(owners), key=lambda owner: (owner.namespace, owner.name, owner.kind, owner.uid))
    shared = Counter((owner.namespace, owner.name) for owner in distinct)
    names: dict[Owner, str] = {}
    taken: set[str] = set()
    for owner in distinct:
        name = f"{owner.namespace}/{owner.name}"
        if shared[owner.namespace, owner.name] > 1:
            name += f" ({owner.kind})" if f"{name} ({owner.kind})" not in taken else f" ({owner.kind} {owner.uid})"
        names[owner] = name
        taken.add(name)
    return names
