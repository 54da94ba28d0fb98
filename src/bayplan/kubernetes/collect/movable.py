"""What never moves, and what does not move now, each with its reason in words."""

from collections.abc import Mapping
from datetime import UTC, datetime

from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.owners import Owner
from bayplan.kubernetes.collect.pods import PodRow, seconds
from bayplan.kubernetes.collect.settings import ON_REQUEST, CollectSettings
from bayplan.kubernetes.marks import DO_NOT_MOVE
from bayplan.model import UNPLACED
from bayplan.operate.orchestrator import Phase

MIRROR = "kubernetes.io/config.mirror"
ANNOTATIONS: Mapping[str, str] = {  # annotation -> the value that says: leave it alone
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "karpenter.sh/do-not-evict": "true",
    "descheduler.alpha.kubernetes.io/prefer-no-eviction": "true",
    DO_NOT_MOVE: "true",
}


def never_moved(row: PodRow, settings: CollectSettings) -> str:
    """Why a pod never moves; empty if it may."""
    owner, facts = row.pod.owner, row.facts
    annotations = row.raw["metadata"].get("annotations") or {}
    if owner.kind == "Node" or MIRROR in annotations:
        return "a static pod of its node"
    reason = _by_owner(owner, settings)
    if reason:
        return reason
    if facts.critical:
        return "critical for the system by its priority"
    if facts.scheduler not in settings.schedulers:
        return f"placed by another scheduler, {facts.scheduler}"
    for key, value in ANNOTATIONS.items():
        if annotations.get(key) == value:
            return f"annotated {key}={value}"
    return next(iter(facts.refused), "") or row.reach.refused


def _by_owner(owner: Owner, settings: CollectSettings) -> str:
    if owner.kind == "Pod":
        return "no owner that would replace it"
    if owner.kind == "DaemonSet":
        return "belongs to a DaemonSet"
    if not owner.known:
        return f"its owner was not read ({owner.kind})"
    if owner.kind in ON_REQUEST and owner.kind not in settings.moved_kinds:
        return f"belongs to a {owner.kind}, which moves only when asked for"
    if owner.kind == "CronJob" and "Job" not in settings.moved_kinds:
        return "belongs to a Job, which moves only when asked for"
    if owner.kind not in settings.moved_kinds and owner.kind != "CronJob":
        return f"belongs to a {owner.kind}, which is not known to replace its pods"
    return f"annotated {DO_NOT_MOVE}=true on its owner" if owner.do_not_move else ""


def not_now(row: PodRow, nodes: NodeTable, settings: CollectSettings, now: float) -> str:
    """Why a pod that may move does not move now; empty if it may."""
    pod = row.pod
    if pod.phase is Phase.PENDING:
        return ""
    held = held_until(pod.owner, now)
    if held:
        return held
    if pod.owner.changing:
        return pod.owner.changing
    if row.machine != UNPLACED and nodes.nodes[row.machine].closed and pod.node not in settings.draining:
        return f"its node is {nodes.nodes[row.machine].closed}"
    if pod.phase is not Phase.READY:
        return "not ready"
    return "young" if now - pod.created < settings.young else ""


def held_until(owner: Owner, now: float) -> str:
    """'held until 2026-11-17 18:00 UTC' while an owner is held; empty otherwise. A time that cannot be read holds for good."""
    if not owner.hold_until:
        return ""
    end = seconds(owner.hold_until)
    if 0 < end <= now:
        return ""
    when = f"until {datetime.fromtimestamp(end, UTC):%Y-%m-%d %H:%M} UTC" if end else f"({owner.hold_until[:40]} is no time)"
    return f"held {when}" + (f": {owner.hold_reason}" if owner.hold_reason else "")
