"""The shop's rules: one of every kind at least."""

from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    Cluster,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Rule,
    Spread,
    Transient,
    TransientMode,
)

ALPHA = 0.999
CPU, MEMORY, GPU = 0, 1, 2


def rules(cluster: Cluster) -> tuple[Rule, ...]:
    """All rules, by the names of the tables."""
    workload = {name: w for w, name in enumerate(cluster.workloads.name)}
    service = {name: s for s, name in enumerate(cluster.services.name)}
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    rack, zone = cluster.level_index("rack"), cluster.level_index("zone")
    payments, agents = range(cluster.replicas[workload["payment"]]), range(cluster.replicas[workload["log-agent"]])
    return (
        Capacity(resources=(CPU, MEMORY, GPU)),
        AntiAffinity(workloads=(workload["frontend"],), limit=3),
        AntiAffinity(workloads=(workload["payment"],), limit=1),
        AntiAffinity(workloads=(workload["cart-redis"], workload["catalogue-db"]), limit=1),  # both live on the disk
        AntiAffinity(workloads=(workload["catalogue-db"],), limit=1, level=rack),
        Spread(service=service["frontend"], minimum=2, level=zone),
        Spread(service=service["checkout"], minimum=2, level=zone),
        Spread(service=service["cart"], minimum=3, level=rack),
        *(CoLocate(containers=(container[f"payment-{i}"], container[f"payment-vault-{i}"])) for i in payments),
        Allow(workloads=(workload["ranker"],), machines="gpu"),
        Allow(workloads=(workload["payment"], workload["payment-vault"]), machines="hardened"),
        Dependency(service=service["checkout"], on=service["currency"], level=zone),
        Dependency(service=service["frontend"], on=service["cart"], level=zone),
        Interference(a=workload["load-generator"], b=workload["checkout"], limit=0),
        Interference(a=workload["catalogue-db"], b=workload["search"], limit=1),
        Pinned(containers=tuple(container[f"log-agent-{i}"] for i in agents)),
        Confidence(resource=CPU, alpha=ALPHA),
        Transient(resource=MEMORY, mode=TransientMode.SEQUENTIAL),
    )
