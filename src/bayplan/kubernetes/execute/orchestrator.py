"""A Kubernetes cluster behind the port: what the loop acts on.

Nothing that is needed to go on is kept in this process only. Reservations are on the cluster, tokens are on the pods. A process
that comes after this one finds them there, and ends what is overdue: no pod waits longer than its reservation.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from bayplan.kubernetes.client import Client, RefusedError, UnavailableError
from bayplan.kubernetes.collect.objects import Objects, read_objects
from bayplan.kubernetes.execute.gates import Gates
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.node_naming import naming_of
from bayplan.kubernetes.execute.overdue import end_overdue, end_reservation
from bayplan.kubernetes.execute.replacements import assignment, open_gate, write_place
from bayplan.kubernetes.execute.reservation import PodReservation, ReservedPod, reserved_pods
from bayplan.kubernetes.execute.settings import ExecuteSettings
from bayplan.kubernetes.execute.steps import BegunStep, cancel_create, cancel_delete, evict, place, report_of
from bayplan.kubernetes.execute.surge import Surges
from bayplan.kubernetes.marks import EVICTS, STEP
from bayplan.model import Action
from bayplan.operate.orchestrator import Observation, PermanentError, StepOrder, StepReport, StepState, TemporaryError

TOO_MANY, CHANGED = 429, (404, 409)
ENDED = (StepState.DONE, StepState.FAILED)
SCALING = "scaling"  # as the collector says it
NEVER_BEGUN = "cancelled before it was begun"


class KubernetesOrchestrator:
    """One cluster. `show` makes an observation of what was read: with traffic and usage, where these are measured."""

    def __init__(
        self, client: Client, show: Callable[[Objects], Observation], settings: ExecuteSettings = ExecuteSettings()
    ) -> None:
        self.client, self.show, self.settings = client, show, settings
        self.live = LivePods(client, settings.namespace)
        self.gates = Gates(client, settings.webhook)
        self._naming = settings.naming
        self._steps: dict[str, BegunStep] = {}
        self._cancelled: dict[str, StepReport] = {}
        self._held: dict[str, PodReservation] = {}  # by name: those for which this process acts
        self._surges = Surges(
            self.live, self.gates, place=self._place, write_places=self._write_places, appearing=settings.appearing
        )
        self._swept = -float("inf")

    # ---- the port -----------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time of this machine's clock."""
        return time.time()

    def wait(self, seconds: float) -> None:
        """Let time pass; what is overdue ends meanwhile."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, self.settings.sweeping or left))
            with suppress(TemporaryError):
                self._sweep()

    def observe(self) -> Observation:
        """The cluster as it is now; pods that wait know whose place they take."""
        self._sweep()
        objects = read_objects(self.client, (self.settings.namespace,) if self.settings.namespace else ())
        self.live.take(objects.of("Pod"), objects.versions["Pod"])
        if self._write_places():
            pods = [pod.raw for pod in self.live.by_uid.values()]
            objects = replace(objects, items={**objects.items, "Pod": pods})
        return _settled(self.show(objects))

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Let new pods of the controllers wait whose pods these orders move, until a time."""
        if until <= self.now():
            raise PermanentError(f"reservation '{reservation}' ends at {until:.0f}, which is past: it is {self.now():.0f}")
        self._expect_surge_allowed(orders)
        self._try_evictions(orders)
        before = self.gates.reservation(reservation) or PodReservation(name=reservation, until=until)
        pods = reserved_pods(orders, before.pods, self.live.by_uid)
        following = replace(before, until=until, pods=pods)
        self._held[reservation] = self.gates.write(following)
        if following.owners - before.owners:
            time.sleep(self.settings.arming)
        self._write_places()

    def release(self, reservation: str) -> None:
        """Take the gate off, and open it for what still waits."""
        self._held.pop(reservation, None)
        end_reservation(self.gates, self.settings.namespace, reservation, self.settings.arming)

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step, unless its token is known."""
        if order.token in self._cancelled:
            raise PermanentError(f"step '{order.token}': {self._cancelled[order.token].reason}")
        if order.token not in self._steps:
            self._steps[order.token] = self._surged(order) if order.surge else self._begun(order)
        return self._report(order.token)

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Follow the pods until one of these steps has ended, or as long as this."""

        def some_ended() -> bool:
            self._write_places()
            return any(self._report(token).state in ENDED for token in tokens)

        self.live.follow(seconds, some_ended)
        return [self._report(token) for token in tokens]

    def cancel(self, token: str) -> StepReport:
        """Give a step up, also one that a process before this one has begun. What is done stays done."""
        report = self._cancelled.get(token) or self._cancel(token)
        if report.state is StepState.FAILED:
            self._cancelled[token] = report
        return report

    # ---- for whoever runs the loop ------------------------------------------------------------------------------------------

    def end_overdue(self) -> list[str]:
        """The dead-man rule: end what is overdue, and open every gate that no reservation is for; which reservations ended."""
        self._swept = time.monotonic()
        return end_overdue(self.gates, self.settings.namespace, self.now())

    # ---- below --------------------------------------------------------------------------------------------------------------

    def _begun(self, order: StepOrder) -> BegunStep:
        return evict(self.live, order) if order.action is Action.DELETE else self._place(order)

    def _place(self, order: StepOrder) -> BegunStep:
        if self._naming is None:
            self._naming = naming_of(self.client)
        return place(self.live, order, self._naming)

    def _surged(self, order: StepOrder) -> BegunStep:
        """A step of a surge; the reservation knows afterwards what was scaled."""
        self._expect_surge_allowed([order])
        for name, reservation in self._held.items():
            if any(pod.uid == order.uid for pod in reservation.pods):
                begin = self._surges.delete if order.action is Action.DELETE else self._surges.create
                step, self._held[name] = begin(order, reservation)
                return step
        raise PermanentError("nothing is reserved for this step: a replica in addition would be one too many")

    def _expect_surge_allowed(self, orders: Sequence[StepOrder]) -> None:
        """A later step, which has no token yet, says nothing: whether it is a surge is known when it is made."""
        if not self.settings.surge and any(order.surge and order.token for order in orders):
            raise PermanentError("a surge needs one replica more for a while: it was not asked for")

    def _sweep(self) -> None:
        if time.monotonic() - self._swept >= self.settings.sweeping:
            self.end_overdue()

    def _try_evictions(self, orders: Sequence[StepOrder]) -> None:
        """PermanentError if a pod may never be evicted. One that has to wait, or has changed, is met when its step is made."""
        for order in orders:
            pod = self.live.by_uid.get(order.uid)
            if order.action is not Action.DELETE or not order.token or pod is None or pod.stopping:
                continue
            request = pod.eviction()
            del request["deleteOptions"]["preconditions"]["resourceVersion"]
            try:
                self.client.create(f"{pod.path}/eviction", request, dryRun="All")
            except RefusedError as error:
                if error.status not in CHANGED:
                    raise
            except UnavailableError as error:
                if error.status == TOO_MANY:
                    continue
                if error.status == 500:  # two disruption budgets for one pod: the API server evicts it never
                    raise PermanentError(str(error)) from error
                raise

    def _write_places(self) -> bool:
        """Write on pods that wait whose place they take, and let go what waits for nothing; was there anything to do?"""
        found = assignment(self._reserved(), self.live)
        for pod, taken in found.places:
            write_place(self.live, pod, taken)
        if found.excess:  # as far as this process knows: the cluster has the last word
            every = self.gates.reservations()
            self._held = {each.name: each for each in every if each.name in self._held}
            for pod in assignment([pod for each in every for pod in each.pods], self.live).excess:
                open_gate(self.live, pod)
        return bool(found.places or found.excess)

    def _reserved(self) -> list[ReservedPod]:
        return [pod for each in self._held.values() for pod in each.pods]

    def _report(self, token: str) -> StepReport:
        if token in self._cancelled:
            return self._cancelled[token]
        step = self._steps.get(token)
        if step is None:
            return StepReport(token=token, state=StepState.UNKNOWN)
        return report_of(self.live, step, pending=self.settings.pending, appearing=self.settings.appearing)

    def _cancel(self, token: str) -> StepReport:
        step = self._steps.get(token)
        if step is not None:
            cancel = cancel_delete if step.order.action is Action.DELETE else cancel_create
            return cancel(self.live, token, step.namespace, step.pod, step.uid)
        return self._cancel_of_another(token)

    def _cancel_of_another(self, token: str) -> StepReport:
        """Cancel a step that this process has not begun: find its pod by the reservation, or by what is written on it.

        Whoever cancels it acts from now on: the reservation is taken over.
        """
        self.live.refresh()
        for reservation in self.gates.reservations():
            found = reservation.of_token(token)
            if found is None:
                continue
            self._held[reservation.name] = reservation
            pod, action = found
            if action is Action.DELETE:
                return cancel_delete(self.live, token, pod.namespace, pod.name, pod.uid)
            placed = self.live.standing_in_for(pod.uid)
            if placed is not None:
                return cancel_create(self.live, token, placed.namespace, placed.name, placed.uid)
        for live_pod in list(self.live.by_uid.values()):
            if live_pod.annotations.get(EVICTS) == token:
                return cancel_delete(self.live, token, live_pod.namespace, live_pod.name, live_pod.uid)
            if live_pod.annotations.get(STEP) == token:
                return cancel_create(self.live, token, live_pod.namespace, live_pod.name, live_pod.uid)
        return StepReport(token=token, state=StepState.FAILED, reason=NEVER_BEGUN)


def _settled(observation: Observation) -> Observation:
    """The observation with the numbers of replicas that count for moves.

    A second instance of ours is no replica more. A workload that has all its pods is not scaling: its status follows a moment
    after a step.
    """
    second = Counter(state.workload for state in observation.second.values())
    shown = Counter(state.workload for state in observation.containers)
    replicas = {name: number - second[name] for name, number in observation.replicas.items()}
    changing = {name: why for name, why in observation.changing.items() if why != SCALING or shown[name] != replicas.get(name)}
    return replace(observation, replicas=replicas, changing=changing)
