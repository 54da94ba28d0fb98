"""What is followed change by change is what a list would show, whatever goes wrong on the way."""

import threading

from bayplan.api.machine_scores import LivePlacement
from bayplan.kubernetes.client import Listing, RefusedError, UnavailableError
from bayplan.kubernetes.extender import ClusterWatch
from bayplan.kubernetes.extender import watching as module

NODES = ["n-0", "n-1", "n-2"]


def node(name, cpu="4"):
    return {"metadata": {"name": name, "resourceVersion": "5"}, "status": {"allocatable": {"cpu": cpu, "memory": "8"}}}


def pod(uid, on, version="6", service="front"):
    about = {"name": uid, "namespace": "shop", "uid": uid, "resourceVersion": version}
    labels = {"app.kubernetes.io/part-of": service}
    request = {"containers": [{"resources": {"requests": {"cpu": "1"}}}], "nodeName": on}
    return {"metadata": {**about, "labels": labels}, "spec": request, "status": {"phase": "Running"}}


class ScriptedClient:
    """Answers lists and watches as it is told; the last watch of a kind waits until the test is over."""

    def __init__(self, lists, watches):
        self.lists, self.watches, self.asked = lists, watches, []
        self.over = threading.Event()

    def list(self, path):
        answer = self.lists[path].pop(0) if len(self.lists[path]) > 1 else self.lists[path][0]
        if isinstance(answer, Exception):
            raise answer
        return Listing(items=answer, resource_version="5")

    def watch(self, path, version, seconds):
        self.asked.append((path, version))
        script = self.watches.get(path, [])
        if not script:
            self.over.wait(10)
            return
        for event in script.pop(0):
            if isinstance(event, Exception):
                raise event
            yield {"type": event[0], "object": event[1]}


def followed(lists=None, watches=None, until=lambda watch: True):
    """A watch that has followed the script until something holds."""
    paths = module.PATHS
    scripted = ScriptedClient(
        {paths["nodes"]: [[node(name) for name in NODES]], paths["pods"]: [[pod("a", "n-1")]], **(lists or {})}, watches or {}
    )
    log, changed = [], threading.Event()

    def tell(event, fields):
        log.append((event, fields))
        changed.set()

    watch = ClusterWatch(client=scripted, live=LivePlacement(2, candidates="100%"), tell=tell)
    heard = watch.heard

    class Heard(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            changed.set()

    watch.heard = Heard(heard)
    watch.start()
    for _ in range(1000):
        if watch.ready() and until(watch):
            break
        changed.wait(0.1)
        changed.clear()
    watch.stop()
    scripted.over.set()
    assert watch.ready() and until(watch), log
    return watch, scripted, log


def preferred(watch, names=NODES):
    return names[int(watch.live.preference(names, "shop/api", "shop/front").argmax())]


def test_it_is_ready_when_nodes_and_pods_were_listed():
    watch, _, log = followed()
    assert (watch.live.machines, watch.live.containers) == (3, 1) and preferred(watch) == "n-1"
    assert ("listed", {"kind": "nodes", "number": 3}) in log


def test_before_that_it_is_not():
    assert not ClusterWatch(client=ScriptedClient({}, {})).ready()


def test_changes_are_taken_over_one_by_one():
    pods = [
        ("ADDED", pod("b", "n-2", "7")),
        ("ADDED", pod("c", "n-2", "8")),
        ("BOOKMARK", {"metadata": {"resourceVersion": "9"}}),
    ]
    nodes = [("ADDED", node("n-3")), ("DELETED", node("n-0"))]
    watch, scripted, _ = followed(
        watches={module.PATHS["pods"]: [pods], module.PATHS["nodes"]: [nodes]},
        until=lambda watch: watch.live.containers == 3 and (module.PATHS["pods"], "9") in watch.client.asked,
    )
    assert preferred(watch) == "n-2" and watch.live.machines == 3
    assert (module.PATHS["pods"], "9") in scripted.asked  # goes on from the bookmark, not from the last change


def test_a_pod_that_ends_or_is_deleted_uses_nothing():
    ended = {**pod("a", "n-1", "7"), "status": {"phase": "Succeeded"}}
    script = [("MODIFIED", ended), ("ADDED", pod("b", "n-2", "8")), ("DELETED", pod("b", "n-2", "9"))]
    watch, _, _ = followed(
        watches={module.PATHS["pods"]: [script]}, until=lambda watch: (module.PATHS["pods"], "9") in watch.client.asked
    )
    assert watch.live.containers == 0


def test_a_version_that_is_too_old_makes_it_list_anew(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.0)
    gone = RefusedError("too old", status=410)
    _, _, log = followed(
        lists={module.PATHS["pods"]: [[pod("a", "n-1")], [pod("c", "n-2"), pod("d", "n-2")]]},
        watches={module.PATHS["pods"]: [[("ADDED", pod("b", "n-1", "7")), gone]]},
        until=lambda watch: watch.live.containers == 2 and preferred(watch) == "n-2",
    )
    assert ("list anew", {"kind": "pods", "reason": "too old"}) in log


def test_a_server_that_does_not_answer_is_asked_again(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.0)
    away = UnavailableError("away", status=0)
    watch, _, log = followed(lists={module.PATHS["nodes"]: [away, away, [node("n-1"), node("n-2")]]})
    assert watch.live.machines == 2 and [event for event, _ in log].count("list anew") == 2


def test_what_was_not_heard_of_for_long_is_not_used(monkeypatch):
    watch, _, _ = followed()
    monkeypatch.setattr(module, "STALE", 0.0)
    assert not watch.ready()
