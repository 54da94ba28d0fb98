"""The Dockerfile: two stages, files that exist, no root, nothing secret. It is not built here: that needs a Docker engine."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines()
    if line.strip() and not line.lstrip().startswith("#")
]
KNOWN = {"FROM", "ENV", "WORKDIR", "RUN", "COPY", "LABEL", "USER", "ENTRYPOINT", "CMD"}


def of(word):
    return [rest for instruction, rest in INSTRUCTIONS if instruction == word]


def test_every_line_is_an_instruction():
    assert {instruction for instruction, _ in INSTRUCTIONS} <= KNOWN


def test_it_has_a_stage_that_builds_and_a_stage_that_runs_on_the_same_python():
    assert of("FROM") == ["python:3.11-slim AS build", "python:3.11-slim"]
    second = INSTRUCTIONS[[number for number, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"][1] :]
    assert [rest for word, rest in second if word == "COPY"] == ["--from=build /opt/bayplan /opt/bayplan"]


def test_what_is_copied_exists_and_is_sent_to_the_builder():
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    for sources in [rest.split()[:-1] for rest in of("COPY") if not rest.startswith("--from")]:
        for source in sources:
            assert (ROOT / source).exists() and f"!{source}" in ignored


def test_it_runs_as_a_user_without_rights_before_anything_of_ours_starts():
    words = [word for word, _ in INSTRUCTIONS]
    assert of("USER") == ["10001:10001"]
    assert words.index("USER") < INSTRUCTIONS.index(("RUN", "bayplan warmup"))
    assert of("ENTRYPOINT") == ['["bayplan"]']


def test_kernels_are_compiled_in_the_image_for_processors_of_any_node():
    assert any("release.wheel" in rest for rest in of("RUN"))
    assert "BAYPLAN_CACHE_DIR=/cache" in " ".join(of("ENV"))


def test_it_has_the_extras_that_a_controller_needs():
    assert any("'.[kube,postgres]'" in rest and "--constraint constraints.txt" in rest for rest in of("RUN"))


def test_nothing_is_fetched_by_address_and_no_secret_is_named():
    assert not re.search(r"https?://|ADD |TOKEN|PASSWORD|SECRET", TEXT)
