"""Probes: addresses that can be read, a port that is taken, a heartbeat that stops."""

import pytest

from bayplan.errors import UsageError, WorldError
from bayplan.kubernetes.controller.health import Health, HealthServer, Heartbeat, read_address
from bayplan.kubernetes.controller.metrics import Metrics


@pytest.mark.parametrize(
    ("text", "address"),
    [(":8080", ("", 8080)), ("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:9", ("::1", 9)), ("node:1", ("node", 1))],
)
def test_an_address_is_a_host_and_a_port(text, address):
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["", "8080", "localhost", "::1:80", "127.0.0.1:port", ":70000", ":-1"])
def test_what_is_no_address_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=r"such as 127\.0\.0\.1:8080"):
        read_address(text)


def test_a_port_that_is_taken_is_said():
    def well():
        return Health(well=True, facts={})

    first = HealthServer(read_address("127.0.0.1:0"), Metrics(), alive=well, ready=well)
    with pytest.raises(WorldError, match="cannot listen on"):
        HealthServer(read_address(f"127.0.0.1:{first.port}"), Metrics(), alive=well, ready=well)
    first.stop()


def test_a_heartbeat_ages_until_it_beats():
    now = [0.0]
    heart = Heartbeat(60.0, lambda: now[0])
    now[0] = 61.0
    assert heart.age > heart.limit
    heart.beat()
    assert heart.age == 0.0
