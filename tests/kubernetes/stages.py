"""What KWOK, the fake kubelet of all nodes, does with nodes and pods: at once, unless an annotation of the pod says otherwise.

| annotation of the pod | effect |
|---|---|
| `tests.bayplan/ready-after: 5s` | running at once, ready after this long |
| `tests.bayplan/gone-after: 5s` | terminating for this long |
| `tests.bayplan/complete-after: 5s` | succeeded after this long; without it the pod of a Job runs on |
"""

from typing import Any

import yaml

READY_AFTER = "tests.bayplan/ready-after"
GONE_AFTER = "tests.bayplan/gone-after"
COMPLETE_AFTER = "tests.bayplan/complete-after"

_NODE_READY = """
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
{{ end }}
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ .metadata.name | Quote }}}
"""
_CONTAINERS = """
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: READY
  started: RUNNING
  restartCount: 0
  state: STATE
{{ end }}
"""
_RUNNING = "{running: {startedAt: {{ Now | Quote }}}}"
_ENDED = "{terminated: {exitCode: 0, reason: Completed, startedAt: {{ Now | Quote }}, finishedAt: {{ Now | Quote }}}}"
_INIT_CONTAINERS = f"""
initContainerStatuses:
{{{{ range .spec.initContainers }}}}
- name: {{{{ .name | Quote }}}}
  image: {{{{ .image | Quote }}}}
  imageID: ""
  ready: true
  restartCount: 0
  {{{{ if eq (or .restartPolicy "") "Always" }}}}
  started: true
  state: {_RUNNING}
  {{{{ else }}}}
  state: {_ENDED}
  {{{{ end }}}}
{{{{ end }}}}
"""


def _addresses() -> str:
    """An address from the pod's identity: KWOK's own counter gives another one when it looks twice, which the API refuses."""
    byte = [f'(printf "0x%s" (substr {k} {k + 2} $digest) | int64)' for k in (0, 2, 4)]
    return (
        f'{{{{ $digest := sha1sum .metadata.uid }}}}\n{{{{ $address := printf "10.%d.%d.%d" {" ".join(byte)} }}}}\n'
        "podIP: {{ $address }}\npodIPs: [{ip: {{ $address }}}]\n"
    )


def _conditions(ready: bool) -> str:
    status = '"True"' if ready else '"False", reason: ContainersNotReady'
    lines = [_condition("Initialized", '"True"'), _condition("Ready", status), _condition("ContainersReady", status)]
    gates = ["{{ range .spec.readinessGates }}", _condition("{{ .conditionType | Quote }}", status), "{{ end }}"]
    return "\n".join(["conditions:", *lines, *gates, ""])


def _condition(kind: str, status: str) -> str:
    return f"- {{type: {kind}, status: {status}, lastTransitionTime: {{{{ Now | Quote }}}}}}"


def _pod_status(phase: str, *, ready: bool) -> str:
    running = phase == "Running"
    containers = _CONTAINERS.replace("READY", str(ready).lower()).replace("RUNNING", str(running).lower())
    containers = containers.replace("STATE", _RUNNING if running else _ENDED)
    start = "startTime: {{ or .status.startTime Now | Quote }}\n"
    return f"phase: {phase}\n" + start + _conditions(ready) + containers + _INIT_CONTAINERS + _addresses()


def _stage(name: str, kind: str, conditions: list[Any], next_: Any, *, delay_from: str = "") -> dict[str, Any]:
    expressions = [
        {"key": key, "operator": operator, **({"values": values} if values else {})} for key, operator, *values in conditions
    ]
    delay = {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": _annotation(delay_from)}} if delay_from else None
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": expressions},
            **({"delay": delay} if delay else {}),
            "next": next_,
        },
    }


def _annotation(name: str) -> str:
    return f'.metadata.annotations["{name}"]'


def stages() -> str:
    """The stages as the YAML documents that KWOK reads."""
    kept = (".metadata.deletionTimestamp", "DoesNotExist")
    pending, running = (".status.phase", "In", "Pending"), (".status.phase", "In", "Running")
    later = (_annotation(READY_AFTER), "Exists")
    is_ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    ready = {"statusTemplate": _pod_status("Running", ready=True)}
    not_ready = {"statusTemplate": _pod_status("Running", ready=False)}
    ended = {"statusTemplate": _pod_status("Succeeded", ready=False)}
    gone = {"finalizers": {"empty": True}, "delete": True}
    return yaml.safe_dump_all(
        [
            _stage("node-ready", "Node", [(".status.conditions.[].type", "DoesNotExist")], {"statusTemplate": _NODE_READY}),
            _stage("pod-ready", "Pod", [kept, pending, (_annotation(READY_AFTER), "DoesNotExist")], ready),
            _stage("pod-running", "Pod", [kept, pending, later], not_ready),
            _stage("pod-ready-later", "Pod", [kept, running, later, (is_ready, "In", "False")], ready, delay_from=READY_AFTER),
            _stage(
                "pod-complete",
                "Pod",
                [kept, running, (_annotation(COMPLETE_AFTER), "Exists"), (is_ready, "In", "True")],
                ended,
                delay_from=COMPLETE_AFTER,
            ),
            _stage("pod-gone", "Pod", [(".metadata.deletionTimestamp", "Exists")], gone, delay_from=GONE_AFTER),
        ]
    )
