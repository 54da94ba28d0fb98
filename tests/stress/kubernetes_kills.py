"""A loop on a real Kubernetes control plane that is killed at random moments, again and again.

    python -m tests.stress.kubernetes_kills --count 100 --out kubernetes-kills.csv

Each life of the loop is a process that is killed just before or after its n-th request to the API server. After every few kills a
loop runs undisturbed to its end: then no disruption budget was ever violated, no pod waits, no policy is left, and the record
agrees with the cluster. One row per kill.
"""

import argparse
import csv
import tempfile
from pathlib import Path

from tests.kubernetes.killed_loops import FIELDS, KilledLoops
from tests.kubernetes.nodes import make_nodes
from tests.kubernetes.objects import Json, collection_path
from tests.kubernetes.real_cluster import ControlPlane, running_control_plane
from tests.kubernetes.shops import Shop, make_shop
from tests.kubernetes.waiting import wait_until
from tests.kubernetes.watcher import Watcher

NAMESPACE = "shop"


def made_shop(plane: ControlPlane, nodes: int, deployments: int) -> Shop:
    """A cluster with something to move."""
    client = plane.client()
    client.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    wait_until(lambda: client.list(accounts).items, "a service account")
    make_nodes(client, nodes, zones=("zone-a", "zone-b", "zone-c"))

    def make(thing: Json) -> Json:
        return client.create(collection_path(thing["apiVersion"], thing["kind"], NAMESPACE), thing)

    return make_shop(client, NAMESPACE, make, deployments=deployments, replicas=5)


def main(arguments: list[str] | None = None) -> int:
    """Run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("kubernetes-kills.csv"))
    chosen = parser.parse_args(arguments)
    wrong = 0
    with running_control_plane() as plane, tempfile.TemporaryDirectory() as folder, chosen.out.open("w", newline="") as file:
        shop = made_shop(plane, nodes=12, deployments=6)
        table = csv.writer(file)
        table.writerow(FIELDS)
        with Watcher(plane.kubeconfig) as watcher:
            case = KilledLoops(
                shop=shop, connect=plane.client, record=Path(folder) / "record.db", watcher=watcher, size=len(shop.pods())
            )
            for row in case.rows(chosen.count):
                table.writerow(row)
                file.flush()
                wrong += bool(row[-1])
                print(*row, sep="  ", flush=True)
            seen = f"{watcher.instants} instants seen, {watcher.evicted} pods moved"
            print(f"{chosen.count} kills: {wrong} wrong; {seen}, the longest wait of a pod {watcher.longest_gate:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
