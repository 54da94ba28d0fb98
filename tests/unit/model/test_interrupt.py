"""Ctrl-C as a wish."""

import signal
import threading

import pytest

from bayplan.model.interrupt import stoppable


@pytest.fixture(autouse=True)
def python_handles_interrupts():
    """A runner in the background may ignore Ctrl-C; here it raises, as it does for a user."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_interrupt_is_a_wish_and_the_second_one_is_not():
    with pytest.raises(KeyboardInterrupt), stoppable() as stop:
        assert not stop.requested
        signal.raise_signal(signal.SIGINT)
        assert stop.requested
        signal.raise_signal(signal.SIGINT)


def test_blocks_within_a_block_share_the_flag():
    with stoppable() as outer:
        with stoppable() as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.requested and outer.requested


def test_afterwards_everything_is_as_before():
    before = signal.getsignal(signal.SIGINT)
    with stoppable():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    with stoppable() as stop:
        assert not stop.requested


def test_in_another_thread_nothing_is_handled():
    requested = []

    def run() -> None:
        with stoppable() as stop:
            requested.append(stop.requested)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert requested == [False]
