"""The week that the demo opens on is whole, and the shop goes on where it ended."""

from bayplan.model import UNPLACED
from bayplan.model.record import TurnVerdict
from bayplan.operate.store import Store
from bayplan.serve.demo.week import record_week, shop_after, unpack_week


def test_the_recorded_week_has_all_its_turns_and_no_plan_under_way(tmp_path):
    unpack_week(tmp_path / "loop.db")
    with Store.open(tmp_path / "loop.db") as store:
        turns = store.turns()
        assert turns[-1].started - turns[0].started > 6.9 * 86400
        assert store.open_plan() is None and store.lease() is None
        assert not [turn for turn in turns if turn.verdict in (TurnVerdict.FAILED, TurnVerdict.RUNNING)]


def test_the_shop_runs_where_it_ran_at_the_end_of_the_week(tmp_path):
    unpack_week(tmp_path / "loop.db")
    with Store.open(tmp_path / "loop.db") as store:
        shop = shop_after(store)
        assert store.observed_at() > store.turns()[-1].started - 1.0
    placed = shop.placement.machine_of != UNPLACED
    assert placed.mean() > 0.8  # what autoscaling had taken away is placed by the scheduler


def test_a_record_without_an_observation_begins_with_the_shop_as_it_is_generated(tmp_path):
    with Store.open(tmp_path / "loop.db") as store:
        assert shop_after(store).cluster.name == "boutique"


def test_a_week_is_recorded(tmp_path):
    record_week(tmp_path / "short.db.gz", days=0.05)
    assert (tmp_path / "short.db.gz").stat().st_size > 1000
