"""Random nodes and pods over every constraint that is mapped to a rule, as plain JSON; the same seed gives the same."""

import random
from typing import Any

Json = dict[str, Any]

ZONE, REGION, RACK, HOST = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "example.com/rack",
    "kubernetes.io/hostname",
)
GPU = "example.com/gpu"
NODES = 7
APPS, TIERS = ("a", "b", "c"), ("front", "back")
NAMESPACES = {"red": {"team": "x"}, "blue": {"team": "y"}, "green": {}}  # name -> labels, each behind the prefix of its world
TAINTS = (("dedicated", "x"), ("dedicated", "y"), ("spot", ""))


class RandomWorld:
    """One small cluster: nodes, namespaces, pods that run, and any number of pods that wait for a node."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.prefix = f"w{seed}"
        self.node_names = [f"node-{k}" for k in range(NODES)]
        self.volumes = [self._volume(k) for k in range(4)]

    # ---- nodes -----------------------------------------------------------------------------------------------------------------

    def nodes(self) -> list[Json]:
        """Nodes of different sizes, labels and taints; some are cordoned, some lack a label of the topology."""
        return [self._node(name) for name in self.node_names]

    def _node(self, name: str) -> Json:
        labels = {"kubernetes.io/os": self._pick("linux", "linux", "linux", "windows")}
        for key, values, chance in (
            (ZONE, "xyz", 0.9),
            (REGION, "r", 0.9),
            (RACK, "12", 0.8),
            (HOST, "", 0.95),
            ("disk", "sh", 0.7),
        ):
            if self.random.random() < chance:
                labels[key] = name if key == HOST else f"{key[-4:]}-{self.random.choice(values)}"
        if self.random.random() < 0.8:
            labels["size"] = self._pick("1", "3", "5", "07", "large")
        amounts = {
            "cpu": self._pick("1", "1500m", "2", "4"),
            "memory": self._pick("1Gi", "2Gi", "4000M"),
            "pods": self._pick("3", "5", "20"),
            "ephemeral-storage": self._pick("1Gi", "10Gi"),
            "hugepages-2Mi": self._pick("0", "8Mi"),
        }
        if self.random.random() < 0.5:
            amounts[GPU] = self._pick("1", "2")
        spec: Json = {"taints": self._taints()}
        if self.random.random() < 0.1:
            spec["unschedulable"] = True
        status = {"capacity": amounts, "allocatable": amounts}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}

    def _taints(self) -> list[Json]:
        if self.random.random() < 0.6:
            return []
        key, value = self.random.choice(TAINTS)
        effect = self._pick("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
        return [{"key": key, "value": value, "effect": effect}]

    # ---- volumes ---------------------------------------------------------------------------------------------------------------

    def _volume(self, number: int) -> Json:
        """A local volume that some nodes can use, and the claim that it is bound to."""
        name, space = f"{self.prefix}-v{number}", self.namespace()
        key = self._pick(ZONE, RACK, "metadata.name")
        values = {ZONE: ["zone-x", "zone-y"], RACK: ["rack-1"], "metadata.name": [self.random.choice(self.node_names)]}[key]
        match = {"key": key, "operator": "In", "values": values}
        term = {"matchFields": [match]} if key == "metadata.name" else {"matchExpressions": [match]}
        labels = {ZONE: self._pick("zone-x", "zone-y__zone-z")} if self.random.random() < 0.4 else {}
        common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                **common,
                "capacity": {"storage": "1Gi"},
                "local": {"path": "/none"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
                "claimRef": {"namespace": space, "name": name},
            },
        }
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": space},
            "spec": {**common, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": name},
        }
        return {"volume": volume, "claim": claim, "namespace": space, "name": name}

    # ---- pods ------------------------------------------------------------------------------------------------------------------

    def namespace(self) -> str:
        """One of the world's namespaces."""
        return f"{self.prefix}-{self.random.choice(list(NAMESPACES))}"

    def running_pod(self, number: int, nodes: list[Json]) -> Json:
        """A pod on a node that it does not have to leave: with anti-affinity, ports and requests of its own."""
        pod = self._pod(f"run-{number}", self.namespace())
        calm = [one for one in nodes if all(taint["effect"] != "NoExecute" for taint in one["spec"]["taints"])]
        pod["spec"]["nodeName"] = self.random.choice(calm or nodes)["metadata"]["name"]
        pod["spec"]["tolerations"] = [{"operator": "Exists"}]
        if self.random.random() < 0.25:
            pod["spec"]["affinity"] = {"podAntiAffinity": self._pod_terms()}
        if self.random.random() < 0.2:
            self._add_port(pod)
        return pod

    def waiting_pod(self, number: int) -> Json:
        """A pod with a few random constraints."""
        pod = self._pod(f"wait-{number}", self.namespace())
        for add in self.random.sample(CONSTRAINTS, k=self.random.choice((0, 1, 1, 1, 2, 2, 3))):
            add(self, pod)
        if self.random.random() < 0.7:
            more = [{"key": key, "operator": "Exists"} for key in ("dedicated", "spot")]
            pod["spec"]["tolerations"] = [*pod["spec"].get("tolerations", ()), *more]
        return pod

    def _pod(self, name: str, namespace: str) -> Json:
        labels = {"app": self.random.choice(APPS), "version": self._pick("1", "2")}
        if self.random.random() < 0.5:
            labels["tier"] = self.random.choice(TIERS)
        containers = [self._container(f"main-{k}") for k in range(self._pick(1, 1, 2))]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"containers": containers, "terminationGracePeriodSeconds": 0},
        }

    def _container(self, name: str, *, large: bool = False) -> Json:
        requests = {}
        if self.random.random() < 0.8:
            requests["cpu"] = self._pick("100m", "250m", "0.3") if not large else self._pick("500m", "1", "1200m")
        if self.random.random() < 0.6:
            requests["memory"] = self._pick("64Mi", "100M", "200Mi") if not large else self._pick("600Mi", "1Gi")
        return {"name": name, "image": "example/none", "resources": {"requests": requests}}

    # ---- constraints -----------------------------------------------------------------------------------------------------------

    def add_large_requests(self, pod: Json) -> None:
        """Requests that many nodes cannot meet: containers, init containers, sidecars, the pod itself."""
        spec = pod["spec"]
        kind = self._pick("container", "init", "sidecar", "pod", "storage", "device", "huge")
        if kind == "container":
            spec["containers"].append(self._container("large", large=True))
        elif kind in ("init", "sidecar"):
            many = [self._container(f"init-{k}", large=True) for k in range(self._pick(1, 2))]
            many[0].update({"restartPolicy": "Always"} if kind == "sidecar" else {})
            spec["initContainers"] = many
        elif kind == "pod":
            spec["containers"] = [{"name": "main", "image": "example/none"}]
            spec["resources"] = {"requests": {"cpu": self._pick("700m", "1500m"), "memory": self._pick("100Mi", "1500Mi")}}
        elif kind == "storage":
            spec["containers"][0]["resources"]["requests"]["ephemeral-storage"] = self._pick("500Mi", "2Gi")
        elif kind == "huge":
            requests = spec["containers"][0]["resources"]["requests"]
            requests.update({"hugepages-2Mi": "4Mi", "cpu": "100m"})
            spec["containers"][0]["resources"]["limits"] = {"hugepages-2Mi": "4Mi"}
        else:
            amount = {GPU: self._pick("1", "2")}
            spec["containers"][0]["resources"] = {"requests": amount, "limits": amount}

    def add_node_selector(self, pod: Json) -> None:
        """A label that some nodes have."""
        pod["spec"]["nodeSelector"] = dict([self._pick(("disk", "disk-s"), ("disk", "disk-h"), (ZONE, "zone-x"), ("size", "3"))])

    def add_node_affinity(self, pod: Json) -> None:
        """One or two terms of every operator."""
        terms = [self._node_term() for _ in range(self._pick(1, 1, 2))]
        affinity = pod["spec"].setdefault("affinity", {})
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}

    def _node_term(self) -> Json:
        options: list[Json] = [
            {"key": "disk", "operator": "In", "values": ["disk-s", "disk-q"]},
            {"key": "disk", "operator": "NotIn", "values": ["disk-s"]},
            {"key": "disk", "operator": "Exists"},
            {"key": RACK, "operator": "DoesNotExist"},
            {"key": "size", "operator": "Gt", "values": [self._pick("0", "2", "4")]},
            {"key": "size", "operator": "Lt", "values": [self._pick("4", "0")]},
        ]
        chosen = self.random.sample(options, k=self._pick(1, 1, 2))
        if self.random.random() < 0.15:
            operator = self._pick("In", "NotIn")
            field = {"key": "metadata.name", "operator": operator, "values": [self.random.choice(self.node_names)]}
            return {"matchExpressions": chosen[:1], "matchFields": [field]}
        return {"matchExpressions": chosen}

    def add_tolerations(self, pod: Json) -> None:
        """Tolerations of every form."""
        options: list[Json] = [
            {"key": "dedicated", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
            {"key": "dedicated", "operator": "Equal", "value": "y"},
            {"key": "dedicated", "operator": "Exists"},
            {"key": "spot", "operator": "Exists", "effect": "NoExecute"},
            {"operator": "Exists"},
        ]
        pod["spec"]["tolerations"] = self.random.sample(options, k=self._pick(1, 2))

    def add_anti_affinity(self, pod: Json) -> None:
        """Required anti-affinity to pods by label, here or in other namespaces."""
        pod["spec"].setdefault("affinity", {})["podAntiAffinity"] = self._pod_terms()

    def add_affinity(self, pod: Json) -> None:
        """Required affinity to pods by label, here or in other namespaces."""
        pod["spec"].setdefault("affinity", {})["podAffinity"] = self._pod_terms()

    def _pod_terms(self) -> Json:
        terms = [self._pod_term() for _ in range(self._pick(1, 1, 2))]
        return {"requiredDuringSchedulingIgnoredDuringExecution": terms}

    def _pod_term(self) -> Json:
        term: Json = {"topologyKey": self._pick(HOST, HOST, ZONE, ZONE, RACK), "labelSelector": self._selector()}
        where = self.random.random()
        if where < 0.2:
            term["namespaces"] = [f"{self.prefix}-{name}" for name in self.random.sample(list(NAMESPACES), k=self._pick(1, 2))]
        elif where < 0.3:
            term["namespaceSelector"] = self._pick({}, {"matchLabels": {"team": "x"}}, {"matchLabels": {"team": "q"}})
        if self.random.random() < 0.1:
            term["matchLabelKeys"] = ["version"]
        return term

    def _selector(self) -> Json:
        return self._pick(
            {"matchLabels": {"app": self.random.choice(APPS)}},
            {"matchLabels": {"app": self.random.choice(APPS)}},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
            {"matchLabels": {"app": "b"}, "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front"]}]},
            {
                "matchExpressions": [
                    {"key": "tier", "operator": "DoesNotExist"},
                    {"key": "app", "operator": "In", "values": ["c"]},
                ]
            },
        )

    def add_spread(self, pod: Json) -> None:
        """One or two topology spread constraints with all their options."""
        keys = self.random.sample((HOST, ZONE, RACK), k=self._pick(1, 1, 2))
        pod["spec"]["topologySpreadConstraints"] = [self._spread(key, pod) for key in keys]

    def _spread(self, key: str, pod: Json) -> Json:
        own = {"matchLabels": {"app": pod["metadata"]["labels"]["app"]}}
        spread: Json = {
            "topologyKey": key,
            "maxSkew": self._pick(1, 1, 2),
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": own if self.random.random() < 0.7 else self._selector(),
        }
        if self.random.random() < 0.25:
            spread["minDomains"] = self._pick(2, 3, 4)
        if self.random.random() < 0.3:
            spread["nodeAffinityPolicy"] = self._pick("Honor", "Ignore")
        if self.random.random() < 0.3:
            spread["nodeTaintsPolicy"] = self._pick("Honor", "Ignore")
        if self.random.random() < 0.15:
            spread["matchLabelKeys"] = ["version"]
        return spread

    def add_host_port(self, pod: Json) -> None:
        """A port of the node."""
        self._add_port(pod)

    def _add_port(self, pod: Json) -> None:
        port = {"containerPort": 80, "hostPort": self._pick(8080, 8081), "protocol": self._pick("TCP", "TCP", "UDP")}
        address = self._pick("", "", "10.0.0.1", "10.0.0.2")
        pod["spec"]["containers"][0]["ports"] = [{**port, **({"hostIP": address} if address else {})}]

    def add_volume(self, pod: Json) -> None:
        """A claim whose volume only some nodes can use."""
        volume = self.random.choice(self.volumes)
        pod["metadata"]["namespace"] = volume["namespace"]
        pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": volume["name"]}}]

    def _pick(self, *options: Any) -> Any:
        return self.random.choice(options)


CONSTRAINTS = (
    RandomWorld.add_large_requests,
    RandomWorld.add_node_selector,
    RandomWorld.add_node_affinity,
    RandomWorld.add_tolerations,
    RandomWorld.add_anti_affinity,
    RandomWorld.add_anti_affinity,
    RandomWorld.add_affinity,
    RandomWorld.add_affinity,
    RandomWorld.add_spread,
    RandomWorld.add_spread,
    RandomWorld.add_host_port,
    RandomWorld.add_volume,
)
