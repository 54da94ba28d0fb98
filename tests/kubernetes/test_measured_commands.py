"""The commands with --prometheus, on a real server, for what kubectl printed."""

import json
import time
from pathlib import Path

import pytest
from tests.builders import prometheus
from tests.kubernetes.exporter import OUTSIDE, Place, PodUsage, cadvisor, istio

import bayplan as bp
from bayplan.cli.main import main
from bayplan.kubernetes.prometheus.address import TOKEN

pytestmark = pytest.mark.prometheus
FILE = str(Path(__file__).parents[2] / "examples" / "kubectl.json")
WEB, CART = Place("shop", "web"), Place("shop", "cart")
USED = {("shop", f"{name}-7d9-{letter}"): PodUsage(0.25, 2e8) for name, letter in (("web", "a"), ("web", "b"), ("cart", "a"))}
SECRET = "s3cret-t0ken"


@pytest.fixture(scope="module")
def address():
    if words := prometheus.missing():
        prometheus.skip_or_fail(words)
    series = [*istio({(WEB, CART): 60.0, (OUTSIDE, WEB): 40.0}), *cadvisor(USED)]
    recorded = prometheus.History(series=series, start=time.time() - 7200, end=time.time() + 1800)  # however long tests take
    with prometheus.server(history=recorded) as server:
        yield server.url


def test_show_has_the_measurements_as_json(address, capsys):
    assert main(["show", FILE, "-n", "shop", "--prometheus", address, "--traffic", "istio", "--json"]) == 0
    said = capsys.readouterr()
    measured = json.loads(said.out)["measurements"]
    (edge,) = measured["traffic"]["edges"]
    assert (edge["source"], edge["destination"]) == ("shop/web", "shop/cart")
    assert edge["rate"] == pytest.approx(60.0, rel=0.01)
    assert measured["traffic"]["coverage"] == pytest.approx(0.6, abs=0.005)
    assert measured["traffic"]["unattributed"][0]["name"] == "unknown"
    assert measured["usage"]["shop/web"]["cpu"]["mean"] == pytest.approx(250.0, rel=0.01)
    assert abs(measured["traffic"]["measured_at"] - time.time()) < 300


def test_show_tells_people_what_could_not_be_attributed(address, capsys):
    assert main(["show", FILE, "-n", "shop", "--prometheus", address]) == 0
    said = capsys.readouterr()
    assert "60.0% of all traffic is between workloads that were collected" in " ".join(said.err.split())
    assert "no workload here" in said.out
    assert "1 edge" in said.out


def test_plan_and_explain_see_the_traffic(address, capsys, tmp_path):
    options = ["-n", "shop", "--prometheus", address, "--traffic", "istio", "--measure", "30m"]
    assert main(["explain", FILE, "shop/cart", *options, "--json"]) == 0
    assert "shop/web" in capsys.readouterr().out
    code = main(["plan", FILE, *options, "--goal", "local-traffic", "--seconds", "2", "--json"])
    assert code in (0, 3)
    assert json.loads(capsys.readouterr().out)["verb"] == "plan"


def test_a_query_of_ones_own_is_an_option(address, capsys):
    query = "sum by (source_workload, destination_workload) (rate(istio_requests_total{reporter='source'}[$window]))"
    options = ["--traffic-query", query, "--traffic-labels", ",source_workload,,destination_workload"]
    assert main(["show", FILE, "--prometheus", address, *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measurements"]["traffic"]["coverage"] == 1.0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--traffic", "linkerd"], 1, "no response_total or request_total"),
        (["--traffic", "isto"], 2, "did you mean 'istio'"),
        (["--traffic-query", "sum by (", "--traffic-labels", "a,b,c,d"], 1, "parse error"),
        (["--measure", "5s"], 2, "one minute or more"),
    ],
)
def test_what_cannot_be_measured_is_said_and_no_token_with_it(address, capsys, monkeypatch, options, code, words):
    monkeypatch.setenv(TOKEN, SECRET)
    assert main(["show", FILE, "--prometheus", address, *options]) == code
    said = capsys.readouterr()
    assert words in " ".join(said.err.split())
    assert SECRET not in said.out + said.err


def test_a_server_that_is_not_there_is_named(capsys):
    assert main(["show", FILE, "--prometheus", "http://127.0.0.1:9/", "--traffic", "istio"]) == 1
    assert "Prometheus at http://127.0.0.1:9 does not answer" in " ".join(capsys.readouterr().err.split())


def test_a_file_of_another_kind_is_not_measured(capsys, tmp_path):
    file = tmp_path / "shop.json"
    assert main(["generate", "boutique", "--out", str(file), "--quiet"]) == 0
    assert main(["show", str(file), "--prometheus", "http://127.0.0.1:9/"]) == 2
    assert "no --prometheus" in " ".join(capsys.readouterr().err.split())


def test_the_library_measures_what_it_reads(address):
    request = bp.kubernetes.MeasurementRequest(prometheus=address)
    cluster = bp.kubernetes.read(FILE, namespaces=["shop"], measurements=request).cluster
    assert list(cluster.traffic.weight) == pytest.approx([60.0], rel=0.01)
    cpu = [resource.name for resource in cluster.resources].index("cpu")
    assert cluster.workloads.usage_mean[cluster.workloads.name.index("shop/web"), cpu] == pytest.approx(250.0, rel=0.01)
