"""What the options about measurements mean together."""

import pytest

from bayplan.cli.options.measurements import WINDOW, MeasurementOptions
from bayplan.errors import UsageError
from bayplan.kubernetes.prometheus import TrafficQuery


def requested(prometheus, traffic, query, labels, window):
    options = MeasurementOptions(
        prometheus=prometheus, traffic=traffic, traffic_query=query, traffic_labels=labels, measure=window
    )
    return options.request()


def test_without_any_option_nothing_is_measured():
    assert requested(None, None, None, None, WINDOW) is None


def test_an_address_alone_takes_the_preset_that_is_there():
    request = requested("http://host:9090", None, None, None, "6h")
    assert (request.prometheus, request.settings.traffic, request.settings.window) == ("http://host:9090", "auto", 21600.0)


def test_a_preset_alone_discovers_prometheus():
    request = requested(None, "istio", None, None, WINDOW)
    assert (request.prometheus, request.settings.traffic, request.settings.window) == ("discover", "istio", 3600.0)


def test_a_query_comes_with_its_labels():
    request = requested(None, None, "rate(x[$window])", "a,b,c,d", WINDOW)
    assert request.settings.traffic == TrafficQuery(expression="rate(x[$window])", labels=("a", "b", "c", "d"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((None, None, "x", None, WINDOW), "need each other"),
        ((None, None, None, "a,b,c,d", WINDOW), "need each other"),
        ((None, "istio", "x", "a,b,c,d", WINDOW), "exclude each other"),
        ((None, None, None, None, "6h"), "expected --prometheus too"),
        (("http://host", "isto", None, None, WINDOW), "did you mean 'istio'"),
        (("http://host", None, None, None, "soon"), "--measure 'soon'"),
        (("http://host", None, None, None, "5s"), "one minute or more"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, words):
    with pytest.raises(UsageError, match=words):
        requested(*options)
