"""A loop that is killed at a few of its requests; `tests.stress.kubernetes_kills` does it a hundred times."""

import random

import pytest
from tests.kubernetes.killed_loops import KilledLoops
from tests.kubernetes.shops import make_shop
from tests.kubernetes.watcher import Watcher

pytestmark = pytest.mark.kubernetes


def test_a_loop_that_is_killed_again_and_again_violates_nothing_and_leaves_nothing_behind(
    control_plane, client, namespace, fake_nodes, make, tmp_path
):
    fake_nodes(12, zones=("zone-a", "zone-b", "zone-c"))
    shop = make_shop(client, namespace, make, deployments=3, replicas=5)
    with Watcher(control_plane.kubeconfig) as watcher:
        loops = KilledLoops(
            shop=shop,
            connect=control_plane.client,
            record=tmp_path / "record.db",
            watcher=watcher,
            size=len(shop.pods()),
            draw=random.Random(1),
        )
        rows = list(loops.rows(5))
        assert [row[-1] for row in rows] == [""] * 5
        assert watcher.evicted > 0
