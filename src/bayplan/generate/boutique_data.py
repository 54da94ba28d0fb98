"""The web shop of the demo in tables: machines, workloads, traffic, and what runs where. Own numbers.

The cast follows public shop demos; requests are those of a shop with real traffic, about five to ten times theirs.
"""

from collections.abc import Mapping
from typing import NamedTuple


class MachineKind(NamedTuple):
    """What a machine offers."""

    cores: int
    memory: int  # GiB
    gpus: int


STANDARD, BIG, GPU = MachineKind(8, 32, 0), MachineKind(16, 64, 0), MachineKind(16, 64, 2)


class Machine(NamedTuple):
    """A machine and its place in the topology."""

    kind: MachineKind
    rack: str
    zone: str


MACHINES: Mapping[str, Machine] = {
    "a1": Machine(STANDARD, "rack-a", "east"),
    "a2": Machine(STANDARD, "rack-a", "east"),
    "a3": Machine(STANDARD, "rack-a", "east"),
    "a4": Machine(BIG, "rack-a", "east"),
    "b1": Machine(STANDARD, "rack-b", "east"),
    "b2": Machine(STANDARD, "rack-b", "east"),
    "b3": Machine(BIG, "rack-b", "east"),
    "b4": Machine(GPU, "rack-b", "east"),
    "c1": Machine(STANDARD, "rack-c", "west"),
    "c2": Machine(STANDARD, "rack-c", "west"),
    "c3": Machine(BIG, "rack-c", "west"),
    "c4": Machine(GPU, "rack-c", "west"),
}
MACHINE_SETS: Mapping[str, tuple[str, ...]] = {
    "gpu": ("b4", "c4"),
    "hardened": ("a3", "a4", "b2", "c2"),  # where card data may be handled
}


class Workload(NamedTuple):
    """A template. The usage of cpu is `busy` of the request, give or take `swing` of it."""

    service: str
    replicas: int
    cpu: int  # milli-cores
    memory: int  # MiB
    busy: float
    swing: float
    gpu: int = 0


WORKLOADS: Mapping[str, Workload] = {
    "frontend": Workload("frontend", 10, 1200, 768, 0.70, 0.20),
    "cart": Workload("cart", 6, 800, 512, 0.60, 0.20),
    "cart-redis": Workload("cart", 3, 1500, 6144, 0.55, 0.10),
    "checkout": Workload("checkout", 5, 1000, 768, 0.45, 0.25),
    "catalogue": Workload("catalogue", 6, 900, 1024, 0.75, 0.15),
    "catalogue-db": Workload("catalogue", 3, 2500, 16384, 0.60, 0.10),
    "currency": Workload("currency", 4, 400, 256, 0.80, 0.15),
    "payment": Workload("payment", 3, 600, 512, 0.30, 0.20),
    "payment-vault": Workload("payment", 3, 100, 128, 0.20, 0.10),
    "shipping": Workload("shipping", 3, 300, 256, 0.40, 0.20),
    "email": Workload("email", 2, 200, 256, 0.25, 0.25),
    "recommendation": Workload("recommendation", 4, 1500, 2048, 0.65, 0.20),
    "ranker": Workload("recommendation", 3, 2000, 8192, 0.50, 0.20, gpu=1),
    "ads": Workload("ads", 4, 700, 1024, 0.55, 0.25),
    "search": Workload("search", 3, 2000, 10240, 0.50, 0.20),
    "log-agent": Workload("telemetry", 12, 150, 256, 0.50, 0.30),
    "metrics-db": Workload("telemetry", 1, 2000, 10240, 0.60, 0.15),
    "load-generator": Workload("load-generator", 2, 1500, 1024, 0.80, 0.10),
}

TRAFFIC: Mapping[tuple[str, str], float] = {  # kB/s at noon
    ("cart", "cart-redis"): 5200.0,
    ("frontend", "catalogue"): 4200.0,
    ("catalogue", "catalogue-db"): 3100.0,
    ("frontend", "currency"): 2600.0,
    ("frontend", "cart"): 1900.0,
    ("recommendation", "ranker"): 1600.0,
    ("frontend", "recommendation"): 1100.0,
    ("load-generator", "frontend"): 900.0,
    ("frontend", "search"): 800.0,
    ("recommendation", "catalogue"): 700.0,
    ("frontend", "ads"): 600.0,
    ("search", "catalogue-db"): 450.0,
    ("frontend", "checkout"): 240.0,
    ("checkout", "cart"): 150.0,
    ("frontend", "shipping"): 120.0,
    ("checkout", "currency"): 110.0,
    ("checkout", "catalogue"): 90.0,
    ("log-agent", "metrics-db"): 80.0,
    ("checkout", "payment"): 60.0,
    ("checkout", "shipping"): 45.0,
    ("payment", "payment-vault"): 40.0,
    ("checkout", "email"): 6.0,
}

LAYOUT: Mapping[str, Mapping[str, int]] = {  # containers of each workload on each machine, and one log-agent each
    "a1": {"frontend": 3, "cart": 2, "recommendation": 1, "ads": 1},
    "a2": {"frontend": 3, "checkout": 2, "ads": 1, "currency": 1, "shipping": 1, "email": 1},
    "a3": {"catalogue-db": 1, "search": 1, "payment": 1, "payment-vault": 1},
    "a4": {"cart-redis": 1, "catalogue": 2, "recommendation": 1, "search": 1, "currency": 1},
    "b1": {"catalogue": 3, "recommendation": 1, "cart": 2, "checkout": 1, "ads": 1},
    "b2": {"frontend": 1, "cart-redis": 1, "currency": 1, "payment": 1, "payment-vault": 1, "shipping": 1},
    "b3": {"catalogue-db": 1, "metrics-db": 1, "load-generator": 1},
    "b4": {"ranker": 2},
    "c1": {"frontend": 2, "checkout": 2, "cart": 1, "currency": 1},
    "c2": {"cart-redis": 1, "cart": 1, "catalogue": 1, "payment": 1, "payment-vault": 1, "shipping": 1, "email": 1},
    "c3": {"catalogue-db": 1, "search": 1, "ads": 1, "load-generator": 1},
    "c4": {"recommendation": 1},
}  # one frontend and one ranker have no machine

VIOLATING: Mapping[str, str] = {  # container -> its machine when violations are wanted
    "cart-redis-1": "a4",  # anti-affinity: two of them on one machine
    "payment-vault-2": "a3",  # co-locate: its payment container runs elsewhere
    "load-generator-0": "b1",  # capacity, and interference with checkout
    "ranker-0": "c2",  # allow, and capacity: no gpu there
    "currency-3": "a4",  # dependency: checkout in the west has no currency left
}
