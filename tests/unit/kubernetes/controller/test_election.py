"""The lease: at most one acts at any instant, and another one takes over in time."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.builders.stored_objects import StoredObjects
from tests.builders.virtual_time import VirtualTime

from bayplan.errors import UsageError
from bayplan.kubernetes.client import RefusedError, UnavailableError
from bayplan.kubernetes.controller.election import ElectionThread, LeaderElection, TermListener
from bayplan.kubernetes.controller.lease import LeaseObject, LeaseTimes

LEASE = "/apis/coordination.k8s.io/v1/namespaces/bayplan/leases/bayplan"
DEADLINE, LENGTH, RETRY = 10.0, 15.0, 2.0


class Network:
    """The way to the API server: requests take time, on the way there and back, and get lost in both directions."""

    def __init__(self, server: StoredObjects, world: VirtualTime, chance: random.Random, *, slow: float = 0.0, lost: float = 0.0):
        self.server, self.world, self.chance, self.slow, self.lost = server, world, chance, slow, lost

    def __getattr__(self, name):
        def call(*arguments, **keywords):
            self._travel()
            answer = None
            try:
                answer = getattr(self.server, name)(*arguments, **keywords)
            finally:
                self._travel()
            return answer

        return call

    def _travel(self):
        delay = self.chance.choice((0.001, 0.1, 1.0, 5.0, 12.0))
        self.world.sleep(delay if self.chance.random() < self.slow else 0.001)
        if self.chance.random() < self.lost:
            raise UnavailableError("lost on the way", status=0)


class Candidate:
    """A process that wants to act, with a clock of its own."""

    def __init__(self, world, network, identity, *, rate=1.0, offset=0.0, times=LeaseTimes()):
        self.world, self.rate = world, rate
        self.terms = []
        self.election = LeaderElection(
            LeaseObject(network, "bayplan", "bayplan"),
            identity,
            times=times,
            listener=TermListener(began=lambda term: self.terms.append((world.time, term))),
            clock=lambda: offset + rate * world.time,
            date=lambda: 1_000_000 + 7 * offset + world.time,
        )

    def live(self, until=float("inf"), stalls=lambda: 0.0, release=False):
        """Try on and on, and end at a time: orderly, or as if it were killed."""
        while self.world.time < until:
            self.election.attempt()
            self.world.sleep((self.election.pause() + stalls()) / self.rate)
        if release:
            self.election.release()


def alone(server=None):
    server = server or StoredObjects()
    world = VirtualTime()
    return server, world, Candidate(world, server, "a")


@given(
    seed=st.integers(0, 2**32),
    candidates=st.integers(2, 4),
    slow=st.sampled_from([0.0, 0.1, 0.5]),
    lost=st.sampled_from([0.0, 0.1]),
)
@examples(max_examples=75)
def test_never_two_hold_the_lease_at_one_instant(seed, candidates, slow, lost):
    chance, world, server = random.Random(seed), VirtualTime(), StoredObjects()
    network = Network(server, world, chance, slow=slow, lost=lost)
    everyone, both, held = [], [], 0

    def look():
        nonlocal held
        acting = [each.election.identity for each in everyone if each.election.term]
        held += len(acting)
        if len(acting) > 1:
            both.append((world.time, acting))

    world.after_each = look
    for number in range(candidates):
        for life in range(3):  # processes that end, by a signal or killed, and begin anew
            each = Candidate(world, network, f"{number}.{life}", rate=chance.uniform(0.85, 1.2), offset=chance.uniform(-1e6, 1e6))
            everyone.append(each)
            born, age = 60.0 * life + chance.uniform(0, 20), chance.uniform(5, 60)

            def lives(each=each, until=born + age, orderly=chance.random() < 0.5):
                each.live(until, lambda: chance.choice((0, 0, 0, 4, 30)) if chance.random() < 0.1 else 0.0, orderly)

            world.actor(lives, at=born)
    world.run(240.0)
    world.end()
    assert both == []
    assert held > 0  # it is not safe because nobody ever acts


@pytest.mark.parametrize("seed", range(20))
def test_another_one_takes_over_15_to_17_seconds_after_the_last_renewal(seed):
    chance, world, server = random.Random(seed), VirtualTime(), StoredObjects()
    first, second = (Candidate(world, Network(server, world, chance), name) for name in "ab")
    dies = chance.uniform(20, 30)
    world.actor(lambda: first.live(until=dies))
    world.actor(second.live, at=chance.uniform(1, 3))
    world.run(60.0)
    world.end()
    renewals = [at for at in _renewals(first) if at <= dies]
    ((took_over, _),) = second.terms
    assert LENGTH - 0.01 <= took_over - renewals[-1] <= LENGTH + RETRY + 0.1


def _renewals(candidate):
    """When it renewed, in true time: its first term began at the first, and it retries every two seconds."""
    began = candidate.terms[0][0]
    return [began + number * (RETRY + 0.004) for number in range(100)]


def test_a_lease_that_was_given_back_is_taken_at_the_next_try():
    world, server = VirtualTime(), StoredObjects()
    first, second = (Candidate(world, server, name) for name in "ab")
    world.actor(lambda: first.live(until=20, release=True))
    world.actor(second.live, at=1)
    world.run(40.0)
    world.end()
    assert 20 <= second.terms[0][0] <= 20 + 2 * RETRY
    assert server.objects[LEASE]["spec"]["leaseTransitions"] == 1


def test_one_that_cannot_renew_stops_at_the_deadline_and_begins_a_new_term_when_it_can():
    server, world, candidate = alone()
    world.actor(candidate.live)
    world.run(5.0)
    assert candidate.election.term == 1
    server.fail = _unreachable
    last = 4.0
    world.run(last + DEADLINE - 0.1)
    assert candidate.election.term == 1
    world.run(last + DEADLINE + 0.1)
    assert candidate.election.term == 0
    assert "unreachable" in candidate.election.problem
    server.fail = lambda method, path: None
    world.run(20.0)
    world.end()
    assert candidate.election.term == 2
    assert server.objects[LEASE]["spec"]["leaseTransitions"] == 0  # it was never another one's


def test_a_term_ends_at_once_when_the_record_names_another_one():
    server, world, candidate = alone()
    ended = []
    candidate.election.listener = TermListener(ended=lambda term, why: ended.append((world.time, why)))
    world.actor(candidate.live)
    world.run(5.0)
    server.objects[LEASE]["spec"] |= {"holderIdentity": "thief"}
    world.run(6.5)
    world.end()
    assert candidate.election.term == 0
    assert ended == [(pytest.approx(6.0, abs=0.1), "'thief' holds the lease")]


def test_what_is_written_is_what_kubernetes_components_write():
    server, world, candidate = alone()
    assert candidate.election.attempt()
    world.time = 3.5
    assert candidate.election.attempt()
    lease = server.objects[LEASE]
    assert lease["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "bayplan"}
    assert lease["spec"] == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 0,
        "acquireTime": "1970-01-12T13:46:40.000000Z",
        "renewTime": "1970-01-12T13:46:43.500000Z",
    }
    candidate.election.release()
    spec = server.objects[LEASE]["spec"]
    assert "holderIdentity" not in spec
    assert (spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (1, 0)


def test_what_others_wrote_on_the_object_is_kept():
    server, _world, candidate = alone()
    candidate.election.attempt()
    server.objects[LEASE]["metadata"]["annotations"] = {"team": "platform"}
    candidate.election.attempt()
    assert server.objects[LEASE]["metadata"]["annotations"] == {"team": "platform"}


def test_a_clock_years_ahead_does_not_take_the_lease():
    world, server = VirtualTime(), StoredObjects()
    first, second = Candidate(world, server, "a"), Candidate(world, server, "b", offset=1e9)
    world.actor(first.live)
    world.actor(second.live, at=1)
    world.run(120.0)
    world.end()
    assert second.terms == []
    assert len(first.terms) == 1


def test_a_lease_that_a_person_deletes_is_not_taken_before_its_holder_stops():
    world, server = VirtualTime(), StoredObjects()
    first, second = Candidate(world, server, "a"), Candidate(world, server, "b")
    first.election.attempt()
    second.election.attempt()
    del server.objects[LEASE]
    assert not second.election.attempt()
    world.time = LENGTH + 1
    assert second.election.attempt()
    assert not first.election.term


def test_a_refusal_is_told_and_the_server_counts_as_reached():
    server, _world, candidate = alone()
    told = []
    candidate.election.listener = TermListener(failed=told.append)

    def forbidden(method, path):
        raise RefusedError("leases are forbidden", status=403, reason="Forbidden")

    server.fail = forbidden
    assert not candidate.election.attempt()
    assert told == ["leases are forbidden"]
    assert candidate.election.silence == 0.0


def test_of_two_that_take_a_free_lease_at_once_one_fails_quietly():
    server, world, candidate = alone()
    told = []
    candidate.election.listener = TermListener(failed=told.append)

    def another_one_first(method, path):
        if method == "POST":
            server.fail = lambda method, path: None
            assert Candidate(world, server, "b").election.attempt()

    server.fail = another_one_first
    assert not candidate.election.attempt()
    assert told == []
    assert server.objects[LEASE]["spec"]["holderIdentity"] == "b"


@pytest.mark.parametrize(("deadline", "retry"), [(15, 2), (20, 2), (2, 2), (10, 0)])
def test_times_that_are_not_safe_are_refused(deadline, retry):
    with pytest.raises(UsageError, match="expected"):
        LeaseTimes(length=15, deadline=deadline, retry=retry)


def test_the_thread_renews_by_itself_and_gives_the_lease_back():
    server = StoredObjects()
    times = LeaseTimes(retry=0.02)
    thread = ElectionThread(LeaderElection(LeaseObject(server, "bayplan", "bayplan"), "a", times=times))
    thread.start()
    deadline = _wait(lambda: len([call for call in server.calls if call[0] == "PUT"]) > 3)
    assert thread.alive and thread.election.term == 1, deadline
    thread.stop()
    assert not thread.alive
    assert "holderIdentity" not in server.objects[LEASE]["spec"]
    times_written = [path for method, path in server.calls if method == "PUT"]
    assert all(a == b for a, b in pairwise(times_written))


def _wait(condition, seconds=20.0):
    import time

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.01)
    return end


def _unreachable(method, path):
    raise UnavailableError("unreachable", status=0)
