"""Metrics count what happens, under labels that no client can add to."""

import re

from tests.builders.offered import creation, offers, stream
from tests.builders.served import serving

from bayplan.serve.metrics import AREAS, area_of
from bayplan.serve.settings import ServeSettings


def _value(text, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])


def test_offers_groups_and_requests_are_counted(tmp_path):
    requests = stream()
    with serving(ServeSettings(port=0, store=str(tmp_path / "serve.db"))) as service:
        service.post("/v1/admissions", creation(requests))
        verdicts = [service.post("/v1/admissions/shop/offers", given).content["accepted"] for given in offers(requests)[:20]]
        text = service.get("/metrics").content.decode()
    assert _value(text, 'bayplan_admission_verdicts_total{verdict="accepted"}') == sum(verdicts)
    assert _value(text, 'bayplan_admission_verdicts_total{verdict="refused"}') == 20 - sum(verdicts)
    assert _value(text, "bayplan_admission_group_size_sum") == 20
    assert _value(text, "bayplan_admission_waiting") == 0
    assert _value(text, 'bayplan_http_requests_total{area="admissions",method="POST",status="2xx"}') == 21


def test_no_path_or_method_of_a_client_becomes_a_label(tmp_path):
    with serving(ServeSettings(port=0, store=str(tmp_path / "serve.db"))) as service:
        for number in range(50):
            service.ask("GET", f"/v1/odd-{number}/x")
            service.ask(f"ODD{number}" if number < 5 else "PUT", "/v1/admissions")
        text = service.get("/metrics").content.decode()
    assert "odd-" not in text and "ODD" not in text
    assert len(re.findall(r"^bayplan_http_requests_total", text, re.MULTILINE)) < 20


def test_every_path_has_an_area():
    paths = ("/", "/page/x.js", "/metrics", "/v1/jobs/1", "/v1/admissions/a/offers", "/v1/session", "/v1/", "/x", "/v1/evil")
    assert {area_of(path) for path in paths} <= set(AREAS)
    assert area_of("/v1/admissions/a/offers") == "admissions" and area_of("/v1/evil") == "other"
