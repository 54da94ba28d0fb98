"""The end: a signal asks for it, its grace runs out, and a guard lets nothing pass any more."""

import os
import signal

import pytest

from bayplan.kubernetes.controller.ending import Ending, GraceOverError, ended_by_signals
from bayplan.kubernetes.controller.guard import SLICE, WATCH, GuardedOrchestrator
from bayplan.model.interrupt import StopFlag
from bayplan.operate.store import LostLeaseError


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_asks_for_the_end_and_stops_a_method(number):
    before = signal.getsignal(number)
    ending, flag = Ending(5.0), StopFlag()
    with ended_by_signals(ending, flag):
        assert not ending.asked
        os.kill(os.getpid(), number)
        assert ending.asked and flag.requested
        assert 0 < ending.left <= 5.0
    assert signal.getsignal(number) is before


@pytest.fixture
def interrupts():
    """Ctrl-C raises KeyboardInterrupt, as in a terminal; a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_second_interrupt_ends_at_once():
    with pytest.raises(KeyboardInterrupt), ended_by_signals(Ending(60.0), StopFlag()):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second interrupt was swallowed")


def test_asked_again_the_deadline_stays():
    now = [0.0]
    ending = Ending(10.0, lambda: now[0])
    ending.ask()
    now[0] = 9.0
    ending.ask()
    ending.expect_time()
    now[0] = 10.0
    with pytest.raises(GraceOverError, match="asked to end 10 s ago"):
        ending.expect_time()


class Recorded:
    """An orchestrator that remembers how it was called."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


def test_nothing_passes_a_guard_without_the_right_to_act():
    inner = Recorded()

    def refuse():
        raise LostLeaseError("lost")

    guard = GuardedOrchestrator(inner, refuse)
    calls = [lambda: guard.wait(1), guard.observe, lambda: guard.prepare("r", [], 0.0), lambda: guard.release("r")]
    calls += [lambda: guard.execute(None), lambda: guard.watch([], 1), lambda: guard.cancel("t")]
    for call in calls:
        with pytest.raises(LostLeaseError):
            call()
    assert inner.calls == []


def test_a_long_wait_is_left_when_the_right_to_act_is_lost():
    inner, left = Recorded(), [3]

    def expect():
        left[0] -= 1
        if left[0] < 0:
            raise LostLeaseError("lost")

    with pytest.raises(LostLeaseError):
        GuardedOrchestrator(inner, expect).wait(1000)
    assert inner.calls == [("wait", SLICE)] * 3


def test_a_wait_and_a_watch_have_the_length_that_was_asked_for_at_most():
    inner = Recorded()
    guard = GuardedOrchestrator(inner, lambda: None)
    guard.wait(2.5 * SLICE)
    guard.watch(["t"], 100.0)
    guard.watch(["t"], 0.0)
    assert sum(call[1] for call in inner.calls if call[0] == "wait") == 2.5 * SLICE
    assert [call[2] for call in inner.calls if call[0] == "watch"] == [WATCH, 0.0]
