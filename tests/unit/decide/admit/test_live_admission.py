"""A live admission: prices, slots, time, releases, what can be read, threads."""

import json
import math
import threading

import numpy as np
import pytest
from tests.builders.clusters_offered import request_of, zones_of

from bayplan.decide.admit import Admission, AdmitOptions, RefusalCause, RefusalKind
from bayplan.errors import UsageError
from bayplan.generate import GENERATORS

KNOWN = AdmitOptions(one_shot="greedy", value_ratio=10.0, alpha=2.0)  # lambda = 42


def live(zones=None, method="primal-dual", **options):
    given = {"one_shot": "greedy", "value_ratio": 10.0, "alpha": 2.0, **options}
    return Admission(zones_of() if zones is None else zones, AdmitOptions(**given), method)


def test_a_price_is_lambda_to_the_share_less_one():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", 0, 2, demand=[[4]]))
    assert admission.parameters.base == 42.0
    assert admission.prices(1).zone[0, 0] == pytest.approx(42 ** (4 / 10) - 1)
    assert admission.prices(2).zone[0, 0] == 0.0
    assert admission.utilisation(0).zone[0, 0] == 0.4


def test_a_link_has_a_price_too():
    admission = live(zones_of([[1], [1]], bandwidth=[[0, 8], [0, 0]]))
    decision = admission.offer(request_of("p", demand=[[1], [1]], traffic=[[0, 2.0], [0, 0]]))
    assert decision.zone.tolist() == [0, 1]
    assert admission.prices().link[0, 1] == pytest.approx(42 ** (2 / 8) - 1)
    assert admission.utilisation().link[0, 1] == pytest.approx(0.25)
    assert np.isnan(admission.prices().link[1, 0])


def test_the_cost_is_use_by_price_over_all_slots_and_the_utility_takes_it_by_alpha():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", 0, 2, demand=[[4]]))
    decision = admission.offer(request_of("q", 0, 3, demand=[[2]], value=50.0))
    cost = 2 * 2 * (42 ** (4 / 10) - 1)
    assert decision.cost == pytest.approx(cost)
    assert decision.utility == pytest.approx(50 - cost / 2)
    assert decision.accepted
    assert decision.parameters.alpha == 2.0


def test_what_is_not_worth_its_price_is_refused_and_the_dearest_part_is_named():
    admission = live(zones_of([[10, 100]]))
    admission.offer(request_of("p", demand=[[8, 1]]))
    decision = admission.offer(request_of("q", demand=[[1, 1]], value=3.0))
    assert not decision.accepted and decision.zone is None
    assert decision.why.startswith("too expensive: value 3 is not above")
    assert decision.why.endswith("of the cost is for cpu in zone 'a'")
    assert decision.cause == RefusalCause(kind=RefusalKind.TOO_EXPENSIVE, resource="cpu", zone="a")
    assert admission.accepted == 1 and admission.offers == 2 and admission.value == 100.0


def test_a_value_of_nothing_is_refused():
    assert not live().offer(request_of(value=0.0)).accepted


def test_what_has_no_room_is_refused_whatever_its_value_and_the_member_is_named():
    admission = live(zones_of([[10], [4]]))
    admission.offer(request_of("p", demand=[[8]]))
    admission.offer(request_of("q", demand=[[3]]))
    decision = admission.offer(request_of("r", demand=[[1], [5]], value=1e12))
    assert decision.why == "no capacity: member 'm1' fits into 0/2 zones (2 short of cpu)"
    assert decision.cause == RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_MEMBER, resource="cpu")
    assert decision.cost == math.inf


def test_members_that_fit_alone_but_not_together_are_said_so():
    admission = live(zones_of([[4]]))
    admission.offer(request_of("p", demand=[[1]]))
    decision = admission.offer(request_of("r", demand=[[2], [2]], value=1e9))
    assert decision.why.startswith("no capacity: its 2 members fit alone, but not together: they ask for 4 of 3 cpu")
    assert decision.cause == RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_ALL, resource="cpu")


@pytest.mark.parametrize(("one_shot", "proven"), [("exact", True), ("local", True), ("greedy", False), ("nscd", False)])
def test_members_that_cannot_be_divided_among_the_zones_are_said_so_and_only_a_proof_is_called_one(one_shot, proven):
    decision = live(zones_of([[10], [10]]), one_shot=one_shot).offer(request_of(demand=[[6], [6], [6]]))
    no_capacity = "no capacity: its 3 members fit alone, but not together: no combination of zones and links holds them all"
    not_found = f"no placement found: its 3 members fit alone, but not together, as far as {one_shot} searched"
    assert decision.why == (no_capacity if proven else not_found)
    assert decision.cause == RefusalCause(kind=RefusalKind.NO_COMBINATION if proven else RefusalKind.NOT_FOUND)


def test_to_the_letter_room_is_the_cap_of_one_request_and_what_does_not_fit_is_still_refused():
    admission = live(zones_of([[10], [10]], bandwidth=[[0, 0], [0, 0]]), literal=True, value_ratio=1e-9)
    admission.offer(request_of("p", demand=[[10]], value=1e9))
    placed = [admission.offer(request_of(f"q{i}", demand=[[3]], value=1e9)) for i in range(4)]
    assert [decision.accepted for decision in placed] == [True, True, True, False]
    assert placed[3].why == "no capacity: it would take 3 of 1 free cpu in zone 'b'"
    assert placed[3].cause == RefusalCause(kind=RefusalKind.NO_CAPACITY, resource="cpu", zone="b")
    assert admission.utilisation().zone.max() <= 1


def test_to_the_letter_a_link_is_not_overbooked():
    zones = zones_of([[10], [10]], cap=[[1], [5]], bandwidth=[[0, 4], [4, 0]])
    admission = live(zones, literal=True, value_ratio=1e-9)
    needs = {"demand": [[5], [1]], "traffic": [[0, 0], [3.0, 0]], "value": 1e9}
    assert admission.offer(request_of("p", **needs)).accepted
    decision = admission.offer(request_of("q", **needs))
    assert decision.why == "no capacity: it would send 3 over the link from zone 'a' to 'b', which has 1 free"
    assert decision.cause == RefusalCause(kind=RefusalKind.NO_CAPACITY, zone="a", to="b")
    assert np.nanmax(admission.utilisation().link) == pytest.approx(0.75)


@pytest.mark.parametrize(("bandwidth", "part"), [(1, 0.05), (7, 7 / 3), (1, 0.1), (3, 0.2), (2**40, 2.0**40 / 3)])
def test_parts_of_a_bandwidth_that_make_up_all_of_it_fit(bandwidth, part):
    zones = zones_of([[100], [100]], cap=[[1], [1]], bandwidth=[[0, bandwidth], [0, 0]])
    admission = Admission(zones, method="available")
    parts = round(bandwidth / part)
    answers = [admission.offer(request_of(f"r{i}", demand=[[1], [1]], traffic=[[0, part], [0, 0]])) for i in range(parts + 1)]
    assert [answer.accepted for answer in answers] == [True] * parts + [False]


def test_a_sum_of_floats_that_is_a_little_above_the_bandwidth_fits():
    zones = zones_of([[3], [1]], cap=[[3], [1]], bandwidth=[[0, 1], [1, 0]])
    demand, traffic = [[1], [1], [1], [1]], np.zeros((4, 4))
    traffic[:3, 3] = 0.7, 0.2, 0.1 + 1e-16 * 2
    assert traffic.sum() > 1.0
    assert Admission(zones, method="available").offer(request_of(demand=demand, traffic=traffic)).accepted


def test_a_request_takes_every_slot_that_it_touches():
    admission = live(zones_of([[10]]), slot=0.1)
    admission.offer(request_of("p", 0.0, 0.25, demand=[[5]]))
    assert [admission.utilisation(t).zone[0, 0] for t in (0.0, 0.15, 0.21, 0.31)] == [0.5, 0.5, 0.5, 0.0]


def test_neighbours_in_time_do_not_share_a_slot():
    admission = live(zones_of([[10]]))
    assert admission.offer(request_of("p", 0, 1, demand=[[10]])).accepted
    assert admission.offer(request_of("q", 1, 2, demand=[[10]], arrival=0)).accepted
    assert not admission.offer(request_of("r", 1.5, 2, demand=[[1]], arrival=0)).accepted


def test_the_window_grows_ahead_and_drops_the_past():
    admission = live(zones_of([[10]]))
    for t in range(0, 3000, 7):
        assert admission.offer(request_of(f"r{t}", t, t + 400, demand=[[0]])).accepted
    assert len(admission._calendar.ledger.load) <= 1024
    admission.offer(request_of("far", 1e9, 1e9 + 3, demand=[[1]]))
    assert admission.utilisation(1e9 + 2).zone[0, 0] == 0.1


def test_time_may_be_before_zero():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", -3.5, -1.5, demand=[[5]]))
    assert [admission.utilisation(t).zone[0, 0] for t in (-3.5, -2, -1)] == [0.5, 0.5, 0.0]


def test_what_has_ended_no_longer_runs_and_its_name_is_free():
    admission = live()
    admission.offer(request_of("p", 0, 2))
    assert [running.name for running in admission.running] == ["p"]
    admission.advance(2)
    assert admission.running == ()
    assert admission.offer(request_of("p", 2, 3)).accepted


def test_a_name_is_free_when_the_next_of_it_arrives_at_its_end():
    admission = live()
    admission.offer(request_of("p", 0, 2))
    assert admission.offer(request_of("p", 2, 3)).accepted
    assert [running.end for running in admission.running] == [3]


def test_a_refused_name_may_be_offered_again():
    admission = live()
    assert not admission.offer(request_of("p", value=0.0)).accepted
    assert admission.offer(request_of("p")).accepted


def test_a_release_frees_from_now_on():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", 0, 5, demand=[[4]]))
    admission.advance(2.5)
    admission.release("p")
    assert admission.running == ()
    assert [admission.prices(t).zone[0, 0] for t in (2.5, 3, 4)] == [0.0] * 3
    assert admission.value == 100.0


def test_a_release_in_the_future_keeps_the_slots_until_then():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", 0, 5, demand=[[4]]))
    admission.release("p", at=2.5)
    assert [admission.utilisation(t).zone[0, 0] for t in (0, 2, 3, 4)] == [0.4, 0.4, 0.0, 0.0]
    assert [running.end for running in admission.running] == [2.5]
    admission.advance(2.5)
    assert admission.running == ()


def test_a_release_after_the_end_changes_nothing():
    admission = live()
    admission.offer(request_of("p", 0, 5))
    before = admission.snapshot()
    admission.release("p", at=7)
    assert admission.snapshot() == before


def test_what_is_released_before_it_starts_leaves_nothing():
    admission = live(zones_of([[10]]))
    admission.offer(request_of("p", 3, 5, arrival=0, demand=[[4]]))
    admission.release("p", at=2)
    assert admission.running == ()
    assert admission.utilisation(3).zone[0, 0] == 0.0


def test_u_and_alpha_are_said_to_be_given_or_estimated():
    given, guessed = live().parameters, live(value_ratio=None, alpha=None).parameters
    assert (given.value_ratio_from, given.alpha_from) == ("given", "given")
    assert (guessed.value_ratio_from, guessed.alpha_from) == ("estimated", "estimated")
    assert live(alpha=None, one_shot="exact").parameters.alpha_from == "exact"
    assert live(method="available").parameters.alpha_from == "not used"
    swmoa = live(method="swmoa", slots=7).parameters
    assert (swmoa.slots, swmoa.slots_from) == (7, "given")
    assert swmoa.base == 2 * (4 * 7 * 10 + 1)  # two zones and two links


def test_u_is_the_largest_value_by_largest_use_so_far_and_prices_follow():
    admission = live(zones_of([[10]]), value_ratio=None, alpha=1.0)
    admission.offer(request_of("p", demand=[[5]], value=15.0))
    assert admission.parameters.value_ratio == 3.0
    admission.offer(request_of("q", demand=[[1]], value=20.0))
    assert admission.parameters.value_ratio == 20.0
    assert admission.prices().zone[0, 0] == pytest.approx(42 ** (6 / 10) - 1)
    admission.offer(request_of("r", demand=[[1]], value=1.0))
    assert admission.parameters.value_ratio == 20.0


def test_alpha_grows_with_what_audits_find():
    stream = GENERATORS["container-clusters"].make(zones=4, count=60, slots=20, seed=2)
    admission = Admission(stream.zones, AdmitOptions(one_shot="nscd"))
    alphas = []
    for request in stream.requests:
        admission.offer(request)
        alphas.append(admission.parameters.alpha)
    assert alphas == sorted(alphas) and alphas[0] == 1.0 < alphas[-1]


def test_swmoa_counts_the_slots_so_far():
    admission = live(method="swmoa")
    admission.offer(request_of("p", 2, 5))
    assert admission.parameters.slots == 3
    admission.offer(request_of("q", 3, 9))
    assert admission.parameters.slots == 7


def test_the_history_has_the_prices_of_passed_and_of_booked_slots():
    admission = live(zones_of([[10], [10]]))
    admission.offer(request_of("p", 0, 20, demand=[[4]]))
    admission.advance(17)
    history = admission.history()
    assert history.start.tolist() == list(range(20))
    assert history.zone.shape == (20, 2, 1) and history.link.shape == (20, 2, 2)
    assert history.zone[:, 0, 0] == pytest.approx([42**0.4 - 1] * 20)


def test_no_zones_refuse_nothing_but_every_member():
    zones = zones_of([[5]])
    admission = live(zones)
    assert admission.history().start.shape == (0,)
    assert admission.now == -math.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.5}, "alpha is 0.5; expected a finite number 1 or more"),
        ({"value_ratio": math.nan}, "value_ratio is nan"),
        ({"value_ratio": 0.0}, "value_ratio is 0.0; expected a finite number above 0"),
        ({"slot": 0.0}, "slot is 0.0"),
        ({"slot": math.inf}, "slot is inf"),
        ({"slots": 0}, "slots is 0"),
        ({"one_shot": "magic"}, "one-shot method 'magic' is not known"),
    ],
)
def test_options_without_sense_are_refused(options, words):
    with pytest.raises(UsageError, match=words):
        live(**options)


def test_offline_is_not_live():
    with pytest.raises(UsageError, match="method 'offline' is not live"):
        live(method="offline")


def test_a_snapshot_is_plain_json_and_comes_back():
    stream = GENERATORS["container-clusters"].make(zones=4, count=40, slots=20, seed=2)
    admission = Admission(stream.zones, AdmitOptions(one_shot="greedy"))
    for request in stream.requests:
        admission.offer(request)
    data = admission.snapshot()
    assert json.loads(json.dumps(data)) == data
    assert Admission.restore(json.loads(json.dumps(data))).snapshot() == data


def test_threads_leave_what_one_thread_leaves():
    """Every request fits and arrives at 0, so that the order does not matter: counts, loads and values must all add up."""
    admission, threads, each = live(zones_of([[10_000]], cap=[[10_000]]), method="available"), 8, 60
    barrier, wrong = threading.Barrier(threads), []

    def work(number):
        barrier.wait()
        for i in range(each):
            name = f"{number}-{i}"
            if not admission.offer(request_of(name, 0, 1 + i % 30, demand=[[1 + i % 3]], value=2.0)).accepted:
                wrong.append(name)
            if i % 2:
                admission.release(name)
            admission.prices(3)
            admission.snapshot()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert admission.offers == admission.accepted == threads * each
    assert admission.value == 2.0 * threads * each
    kept = [i for i in range(each) if i % 2 == 0]
    for t in range(31):
        expected = threads * sum(1 + i % 3 for i in kept if i % 30 >= t)
        assert admission.utilisation(t).zone[0, 0] * 10_000 == pytest.approx(expected)
