"""One Deployment on a few nodes, and orders about its pods, for tests of single steps."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.kubernetes.objects import Json
from tests.kubernetes.shops import Shop
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.execute import KubernetesOrchestrator
from bayplan.model import Action
from bayplan.operate.orchestrator import StepOrder, StepReport, StepState

_numbers = count(1)


@dataclass(kw_only=True)
class Bench:
    """A cluster behind the port, and what a test does with it."""

    shop: Shop
    orchestrator: KubernetesOrchestrator
    nodes: dict[str, str]  # name -> uid

    def another_process(self, **settings: Any) -> KubernetesOrchestrator:
        """The cluster as a process sees it that has just begun."""
        other = self.shop.orchestrator(**settings)
        other.observe()
        return other

    def pod(self, uid: str) -> Json | None:
        """A pod as it is now."""
        return next((pod for pod in self.shop.pods() if pod["metadata"]["uid"] == uid), None)

    def first(self, app: str = "web") -> Json:
        """One pod of a Deployment that runs."""
        return next(pod for pod in self.shop.pods() if pod["metadata"]["labels"]["app"] == app and pod["spec"].get("nodeName"))

    def delete(self, pod: Json, **changes: Any) -> StepOrder:
        """The order to delete a pod."""
        node = pod["spec"]["nodeName"]
        known = {"machine": node, "machine_uid": self.nodes[node], "uid": pod["metadata"]["uid"]}
        return StepOrder(token=f"p/{next(_numbers)}", action=Action.DELETE, workload="web", **{**known, **changes})

    def create(self, pod: Json, node: str, **changes: Any) -> StepOrder:
        """The order to create what replaces a pod."""
        known = {"machine": node, "machine_uid": self.nodes.get(node, "gone"), "uid": pod["metadata"]["uid"]}
        return StepOrder(token=f"p/{next(_numbers)}", action=Action.CREATE, workload="web", **{**known, **changes})

    def elsewhere(self, pod: Json) -> str:
        """A node that the pod is not on."""
        return next(name for name in self.nodes if name != pod["spec"]["nodeName"])

    def prepare(self, *orders: StepOrder, seconds: float = 600.0, name: str = "1-abc") -> None:
        """Reserve for orders."""
        self.orchestrator.prepare(name, orders, time.time() + seconds)

    def made(self, order: StepOrder, orchestrator: KubernetesOrchestrator | None = None) -> StepReport:
        """Make a step, and wait for its end."""
        chosen = orchestrator or self.orchestrator
        chosen.execute(order)
        return self.ended(order, chosen)

    def ended(self, order: StepOrder, orchestrator: KubernetesOrchestrator | None = None) -> StepReport:
        """What is said about a step when it has ended."""
        chosen = orchestrator or self.orchestrator
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            (report,) = chosen.watch([order.token], 5.0)
            if report.state in (StepState.DONE, StepState.FAILED):
                return report
        raise AssertionError(f"{order} has not ended: {report}")

    def gated(self) -> list[str]:
        """Pods that wait."""
        return [pod["metadata"]["name"] for pod in self.shop.pods() if pod["spec"].get("schedulingGates")]

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        """Until something holds."""
        return wait_until(condition, what)
