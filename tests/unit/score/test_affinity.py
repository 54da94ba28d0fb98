import json

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.formats.rasa import read_rasa
from bayplan.score import gained_affinity, gained_shares, total_affinity


def test_a_pair_gains_the_smaller_share_on_each_machine():
    cluster = tiny([[9]] * 3, [[1], [1]], [2, 4], edges=[(0, 1, 5.0)])
    # machine 0: min(1/2, 1/4); machine 1: min(1/2, 3/4)
    assert gained_shares(cluster, on(0, 1, 0, 1, 1, 1)).tolist() == [0.75]


def test_gained_affinity_is_relative_to_the_total():
    cluster = tiny([[9]] * 2, [[1], [1], [1]], [1, 1, 1], edges=[(0, 1, 6.0), (1, 2, 2.0)])
    assert total_affinity(cluster) == 8.0
    assert gained_affinity(cluster, on(0, 0, 1)) == 0.75


def test_an_unplaced_replica_still_counts_as_one():
    cluster = tiny([[9]], [[1], [1]], [2, 1], edges=[(0, 1, 1.0)])
    assert gained_affinity(cluster, on(0, -1, 0)) == 0.5


def test_no_traffic_gains_nothing():
    assert gained_affinity(tiny([[9]], [[1]], [1]), on(0)) == 0.0


def test_thirds_add_up_to_no_more_than_one():
    cluster = tiny([[9]] * 3, [[1], [1]], [3, 3], edges=[(0, 1, 1.0)])
    assert gained_shares(cluster, on(0, 1, 2, 0, 1, 2)).tolist() == [1.0]


@pytest.mark.data
def test_the_original_placement_of_m3_gains_seven_percent(data_folder):
    snapshot = read_rasa(json.loads((data_folder / "rasa" / "M3.json").read_text()), "M3.json")
    assert round(gained_affinity(snapshot.cluster, snapshot.placement), 5) == 0.06995
