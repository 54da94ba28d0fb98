"""Reservations on the cluster: each is written on the object that makes new pods wait for it, a policy or a webhook.

The object names the controllers whose pods wait by their uid, in a literal list: nothing else in the cluster is touched, and a
rollout, which has a ReplicaSet of its own, goes on by itself. If it cannot be evaluated, pods are created without it
(`failurePolicy: Ignore`). It carries its reservation as annotations, so whoever comes after us knows for what pods wait, and
until when.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.gate_objects import BINDINGS, GROUP, POLICIES, WEBHOOKS, binding, object_name, policy, webhook
from bayplan.kubernetes.execute.gate_webhook import WebhookAddress, WebhookSettings, answering
from bayplan.kubernetes.execute.reservation import PodReservation, reservation_of
from bayplan.kubernetes.json_server import Tell
from bayplan.kubernetes.marks import NAME, RESERVED, SELECTOR, UNTIL
from bayplan.operate.orchestrator import PermanentError

SERVED = ("v1", "v1beta1")  # of the policies, best first: 1.36; 1.34 where it was switched on
FORBIDDEN, NOT_FOUND, CONFLICT = 403, 404, 409


class Gates:
    """The reservations of ours on one API server. New ones are webhooks if an address for these is given, else policies."""

    def __init__(self, client: Client, address: WebhookAddress | None = None) -> None:
        self.client, self.address = client, address
        self._version = ""  # of the policies, once it is known

    @property
    def version(self) -> str:
        """The version of policies that the server offers; empty if it offers none."""
        if not self._version:
            self._version = next((version for version in SERVED if self._offers(version)), "")
        return self._version

    def expect_offered(self) -> None:
        """PermanentError if pods cannot be made to wait: then no replica can be steered."""
        if self.address is None and not self.version:
            raise PermanentError(
                "the API server offers no MutatingAdmissionPolicy, so new pods cannot be made to wait for their machine; "
                "expected Kubernetes 1.36 or later, an earlier one on which it was switched on, or --webhook"
            )

    def _offers(self, version: str) -> bool:
        try:
            resources = self.client.get(f"/apis/{GROUP}/{version}")["resources"]
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            return False
        return any(resource["name"] == POLICIES for resource in resources)

    def reservations(self) -> list[PodReservation]:
        """All that are on the cluster, also those of other processes and those that are overdue."""
        listings = [self.client.list(path, labelSelector=SELECTOR) for path in self._holders()]
        items = [item for listing in listings for item in listing.items]
        return [_read(item) for item in items if NAME in (item["metadata"].get("annotations") or {})]

    def reservation(self, name: str) -> PodReservation | None:
        """One of them; None if there is none by that name."""
        return self.held_by(object_name(name))

    def held_by(self, holder: str) -> PodReservation | None:
        """The reservation that is written on an object of this name; None if there is none."""
        for path in self._holders():
            try:
                return _read(self.client.get(f"{path}/{holder}"))
            except RefusedError as error:
                if error.status != NOT_FOUND:
                    raise
        return None

    def write(self, reservation: PodReservation) -> PodReservation:
        """Put a reservation on the cluster, or change it; refused (409) if another process has changed it since it was read.

        What is there then, to be changed further.
        """
        self.expect_offered()
        holder, body = self._object(reservation)
        body["metadata"]["annotations"] = _annotations(reservation)
        if reservation.version:
            body["metadata"]["resourceVersion"] = reservation.version
            written = self.client.replace(f"{holder}/{body['metadata']['name']}", body)
        else:
            written = self.client.create(holder, body)
        if self.address is None:
            self._bind(reservation)
        return _read(written)

    def _object(self, reservation: PodReservation) -> tuple[str, Json]:
        if self.address is not None:
            return self._path(WEBHOOKS), webhook(reservation, self.address.client_config(object_name(reservation.name)))
        return self._path(POLICIES), policy(reservation, f"{GROUP}/{self.version}")

    def _bind(self, reservation: PodReservation) -> None:
        """A policy is asked only where a binding says so."""
        try:
            self.client.create(self._path(BINDINGS), binding(reservation, f"{GROUP}/{self.version}"))
        except RefusedError as error:
            if error.status != CONFLICT:  # it is there already
                raise

    def remove(self, name: str) -> None:
        """Take a reservation off the cluster; one that is not there is no fault."""
        for path in self._paths():
            self._delete(f"{path}/{object_name(name)}")

    def objects(self) -> list[str]:
        """The paths of everything that is ours, bindings first."""
        listed = [(path, self.client.list(path, labelSelector=SELECTOR)) for path in self._paths()]
        return [f"{path}/{item['metadata']['name']}" for path, listing in listed for item in listing.items]

    def remove_all(self) -> None:
        """Take everything off that is ours."""
        for path in self.objects():
            self._delete(path)

    def _delete(self, path: str) -> None:
        try:
            self.client.delete(path)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise

    def _holders(self) -> list[str]:
        """Where reservations are written. Rights are given for one kind of object only, so the other is not looked at."""
        if self.address is not None:
            return [self._path(WEBHOOKS)]
        return [self._path(POLICIES)] if self.version else []

    def _paths(self) -> list[str]:
        """All kinds of objects of ours, bindings before what they bind."""
        holders = self._holders()
        return [self._path(BINDINGS), *holders] if self._path(POLICIES) in holders else holders

    def _path(self, kind: str) -> str:
        return f"/apis/{GROUP}/{'v1' if kind == WEBHOOKS else self.version}/{kind}"


class EveryGate(Gates):
    """The reservations in every form that there is, to be taken off."""

    def _holders(self) -> list[str]:
        return [path for path in (self._path(WEBHOOKS), self._path(POLICIES)) if self._may_list(path)]

    def _may_list(self, path: str) -> bool:
        """What may not be seen, or is not offered, is not ours either."""
        try:
            self.client.list(path, labelSelector=SELECTOR)
        except RefusedError as error:
            if error.status not in (FORBIDDEN, NOT_FOUND):
                raise
            return False
        return True


@contextmanager
def webhook_of(client: Client, settings: WebhookSettings | None, tell: Tell) -> Iterator[WebhookAddress | None]:
    """The webhook of this process, until the end of the block; where API servers reach it. Without settings there is none."""
    if settings is None:
        yield None
        return
    address = settings.address()
    with answering(settings, Gates(client, address).held_by, tell):
        yield address


def _annotations(reservation: PodReservation) -> Json:
    until = datetime.fromtimestamp(reservation.until, UTC).isoformat()
    return {NAME: reservation.name, UNTIL: until, RESERVED: reservation.to_text()}


def _read(holder: Json) -> PodReservation:
    metadata = holder["metadata"]
    written = metadata["annotations"]
    until = datetime.fromisoformat(written[UNTIL]).timestamp()
    return reservation_of(written[NAME], until, written[RESERVED], metadata["resourceVersion"])
