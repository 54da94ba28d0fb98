"""What `admit` says of a stream: reasons counted, use over time, parameters in words."""

from dataclasses import asdict, replace

import numpy as np
import pytest

import bayplan as bp
from bayplan.decide.admit import PriceParameters, Refusal, RefusalCause, RefusalKind, summarise_refusals
from bayplan.decide.admit.decision import admission_result
from bayplan.formats import read_accepted
from bayplan.generate.container_clusters import container_clusters
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, Resource, Zones, ints
from bayplan.report.answers.admit_tables import parameter_facts
from bayplan.score.admission_use import COLUMNS, edges, use_over_time


def stream(*requests: ClusterRequest) -> ClusterRequests:
    zones = Zones(
        name=("a", "b"),
        resources=(Resource(name="cpu"), Resource(name="gpu")),
        capacity=ints([[10, 0], [20, 4]]),
        request_cap=ints([[10, 0], [20, 4]]),
        bandwidth=ints([[0, 8], [0, 0]]),
    )
    return ClusterRequests(zones=zones, requests=requests)


def request(name: str = "r", start: float = 0.0, end: float = 2.0, value: float = 5.0) -> ClusterRequest:
    traffic = np.array([[0.0, 4.0], [0.0, 0.0]])
    demand = ints([[5, 0], [10, 2]])
    return ClusterRequest(
        name=name, members=("x", "y"), demand=demand, traffic=traffic, arrival=start, start=start, end=end, value=value
    )


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (
            RefusalCause(kind=RefusalKind.TOO_EXPENSIVE, resource="cpu", zone="a: b, c"),
            "too expensive, mostly for cpu in zone 'a: b, c'",
        ),
        (
            RefusalCause(kind=RefusalKind.TOO_EXPENSIVE, zone="a", to="b"),
            "too expensive, mostly for the link from zone 'a' to 'b'",
        ),
        (RefusalCause(kind=RefusalKind.TOO_EXPENSIVE), "too expensive"),
        (RefusalCause(kind=RefusalKind.NO_CAPACITY, resource="cpu", zone="b"), "no capacity, short of cpu in zone 'b'"),
        (RefusalCause(kind=RefusalKind.NO_CAPACITY, zone="a", to="b"), "no capacity, short of the link from zone 'a' to 'b'"),
        (RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_MEMBER, resource="memory"), "no capacity for a member, short of memory"),
        (RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_ALL, resource="cpu"), "no capacity for all members, short of cpu"),
        (RefusalCause(kind=RefusalKind.OUT_OF_BUDGET), "not examined: the budget ended before"),
    ],
)
def test_a_cause_is_said_without_numbers(cause, words):
    assert str(cause) == words


def test_refusals_are_counted_by_their_cause_and_the_most_valuable_come_first():
    offered = stream(request("small", value=1.0), request("big", value=9.0), request("other", value=4.0))
    full = RefusalCause(kind=RefusalKind.NO_CAPACITY, resource="cpu", zone="b")
    reasons = [
        Refusal("small", "no capacity: it would take 7 of 3 free cpu in zone 'b'", full),
        Refusal("big", "no capacity: it would take 5 of 1 free cpu in zone 'b'", full),
        Refusal("other", "too expensive: value 4 is not above its cost 8", RefusalCause(kind=RefusalKind.TOO_EXPENSIVE)),
    ]
    summary = summarise_refusals(offered, reasons)
    assert [(group.cause, group.requests, group.value) for group in summary.groups] == [
        (full, 2, 10.0),
        (RefusalCause(kind=RefusalKind.TOO_EXPENSIVE), 1, 4.0),
    ]
    assert [refused.name for refused, _ in summary.each] == ["big", "other", "small"]


def test_use_is_the_mean_over_each_slot():
    offered = stream(request("no", end=4.0), request("r", start=0.5, end=2.0))
    use = use_over_time(offered, Acceptance(zone_of=(None, ints([0, 1]))), slot=1.0)
    assert use.edge.tolist() == [0, 1, 2, 3, 4]
    assert use.zone[:, 0, 0].tolist() == [0.25, 0.5, 0, 0]  # 5 of 10 in half of the first slot
    assert use.zone[:, 1].tolist() == [[0.25, 0.25], [0.5, 0.5], [0, 0], [0, 0]]
    assert np.isnan(use.zone[:, 0, 1]).all()  # no gpu there
    assert use.link[:, 0, 1].tolist() == [0.25, 0.5, 0, 0] and np.isnan(use.link[:, 1, 0]).all()
    assert [name for name, _, _ in use.totals()] == ["cpu", "gpu", "links"]
    assert next(use.totals())[1:] == pytest.approx(((0.25 + 0.5) / 4, 0.5))


def test_members_in_one_zone_use_no_link():
    use = use_over_time(stream(request()), Acceptance(zone_of=(ints([1, 1]),)), slot=1.0)
    assert use.link[:, 0, 1].tolist() == [0, 0]


def test_use_adds_up_to_what_was_accepted_whatever_the_slots():
    offered = container_clusters(zones=4, slots=50, count=40, seed=2)
    rng = np.random.default_rng(0)
    chosen = tuple(ints(rng.integers(0, 4, len(r.members))) if rng.random() < 0.7 else None for r in offered.requests)
    taken = sum(
        r.demand.sum(axis=0) * (r.end - r.start) for r, zone in zip(offered.requests, chosen, strict=True) if zone is not None
    )
    for slot in (1.0, 0.3, 7.0):
        use = use_over_time(offered, Acceptance(zone_of=chosen), slot)
        wide = np.diff(use.edge)[:, None]
        assert (use.total[:, :2] * wide).sum(axis=0) * offered.zones.capacity.sum(axis=0) == pytest.approx(taken)
        assert len(use.edge) - 1 <= COLUMNS


def test_many_slots_become_few_pieces_of_whole_slots():
    long = replace(request(), end=1e6)
    edge = edges(stream(long), 3.0)
    assert len(edge) - 1 <= COLUMNS and edge[0] == 0 and edge[-1] >= 1e6
    assert np.allclose(np.diff(edge), np.diff(edge)[0]) and float(np.diff(edge)[0]) % 3 == 0


def test_nothing_offered_is_nothing_used():
    use = use_over_time(stream(), Acceptance(zone_of=()), slot=2.0)
    assert use.edge.tolist() == [0, 2] and np.nan_to_num(use.zone).max() == 0


def test_parameters_say_where_they_come_from():
    known = PriceParameters(value_ratio=50.0, value_ratio_from="given", alpha=1.5, alpha_from="estimated", base=152.0)
    assert [words for _, words in parameter_facts(asdict(known))] == ["50 (given)", "1.5 (estimated)", "152"]
    swmoa = replace(known, alpha_from="not used", slots=7, slots_from="given")
    assert [words for _, words in parameter_facts(asdict(swmoa))] == ["50 (given)", "7 (given)", "152"]
    high = replace(known, alpha=2.0**20, value_ratio=1951230.44)
    assert [words for _, words in parameter_facts(asdict(high))][:2] == ["1,951,230.4 (given)", "1,048,576 (estimated)"]
    assert parameter_facts(asdict(replace(known, base=1.0))) == []


# ---- the library ---------------------------------------------------------------------------------------------------------------


def test_an_answer_counts_saves_and_shows_itself(tmp_path):
    offered = bp.generate("container-clusters", zones=3, count=40, slots=6, members_most=4)
    answer = bp.admit(offered, method="primal-dual", one_shot="greedy", bound=True, seconds=5)
    assert answer.placed == answer.accepted == 40 - len(answer.left_out) and answer.score["value"] <= answer.bound
    assert f"accepts {answer.accepted} of 40 requests" in answer.summary() and answer.moved == 0
    assert "accepts" in answer._repr_html_()
    answer.save(tmp_path / "accepted.json")
    answer.report(tmp_path / "page.html", command="bp.admit(...)")
    assert len(read_accepted(tmp_path / "accepted.json", offered).accepted) == answer.accepted
    assert "bp.admit(...)" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert answer.to_dict()["details"]["refused"] == len(answer.left_out)


def test_a_registered_method_admits(monkeypatch):
    monkeypatch.setattr("bayplan.api.registry._registered", {})

    @bp.register("admit", "refuse-all")
    def refuse_all(stream, options, *, budget, seed, progress):
        return admission_result(stream, [None] * len(stream.requests))

    answer = bp.admit(stream(request()), method="refuse-all", value_ratio=3.0)
    assert (answer.accepted, answer.parameters, answer.score["value"]) == (0, None, 0)


def test_an_unknown_keyword_is_refused_with_a_hint():
    with pytest.raises(bp.UsageError, match="did you mean 'samples'"):
        bp.admit(stream(request()), sample=3)


@pytest.mark.parametrize("first", [1e-5, 100_000.0])
@pytest.mark.parametrize("method", ["available", "primal-dual", "offline"])
def test_an_answer_with_a_bound_is_optimal_only_if_nothing_is_worth_more(method, first):
    values = (first, 9 * first) if first < 1 else (first, first + 5)
    size = ints([[1]])
    zones = Zones(name=("z",), resources=(Resource(name="cpu"),), capacity=size, request_cap=size, bandwidth=ints([[0]]))
    offers = [
        ClusterRequest(
            name=f"r{i}",
            members=("x",),
            demand=ints([[1]]),
            traffic=np.zeros((1, 1)),
            arrival=0.0,
            start=0.0,
            end=1.0,
            value=value,
        )
        for i, value in enumerate(values)
    ]
    answer = bp.admit(
        ClusterRequests(zones=zones, requests=tuple(offers)), method=method, bound=True, budget=bp.Budget(iterations=100)
    )
    assert answer.bound == pytest.approx(max(values))
    assert (answer.status == "optimal") == (answer.score["value"] == max(values))
