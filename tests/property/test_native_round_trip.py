"""What is written is read back as the same model, value by value."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders.differences import differences
from tests.builders.strategies import clusters, objectives, placements, valid_snapshots

from bayplan import formats
from bayplan.errors import InputError
from bayplan.formats.document.text import parse_document
from bayplan.formats.native import native_document, read_native, text_of
from bayplan.formats.native.read import build
from bayplan.formats.native.reader import digits_of, exact, written, written_real
from bayplan.model import Cluster, Objective, Placement, Resource, Snapshot, floats, ints

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
AMOUNTS = st.integers(0, 2**63 - 1)
USAGES = st.floats(0, 2.0**62, allow_subnormal=False)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=8)  # no control characters


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Any snapshot, whether its rules can be kept or not."""
    cluster = draw(clusters())
    return Snapshot(cluster=cluster, placement=draw(placements(cluster)), objective=draw(objectives(cluster)))


def again(snapshot: Snapshot, *, as_yaml: bool) -> Snapshot:
    text = text_of(native_document(snapshot), as_yaml=as_yaml)
    read = build(parse_document(text, "x.yaml" if as_yaml else "x.json"), "x")
    return dataclasses.replace(read, notes=tuple(note for note in read.notes if "has no workload" not in note))


@few
@given(snapshot=snapshots(), as_yaml=st.booleans())
def test_every_value_survives_writing_and_reading(snapshot: Snapshot, as_yaml: bool) -> None:
    read = again(snapshot, as_yaml=as_yaml)
    assert differences(snapshot.cluster, read.cluster) == []
    assert differences(snapshot.placement, read.placement) == []
    assert differences(snapshot.objective, read.objective) == []


@few
@given(snapshot=valid_snapshots())
def test_a_cluster_with_a_valid_placement_is_never_called_contradictory(snapshot: Snapshot) -> None:
    try:
        read_native(native_document(snapshot), "x")
    except InputError as error:
        bare = ~snapshot.cluster.machines.capacity.any(axis=1)
        assert {fault.code for fault in error.faults} <= {"E1115"} | ALLOWED_WITHOUT_PLACEMENT
        assert "E1115" not in {fault.code for fault in error.faults} or bare.any()


# A rule about containers that have no machine yet is kept by every placement, though no complete one keeps it.
ALLOWED_WITHOUT_PLACEMENT = {"E1301", "E1302", "E1304", "E1305", "E1306", "E1307", "E1308", "E1309", "E1311"}


@few
@given(snapshot=valid_snapshots(complete=True))
def test_a_complete_valid_placement_proves_that_no_rule_contradicts_another(snapshot: Snapshot) -> None:
    try:
        read_native(native_document(snapshot), "x")
    except InputError as error:
        assert {fault.code for fault in error.faults} <= {"E1115", *SAYS_NOTHING}


SAYS_NOTHING = {"E1301", "E1311"}  # a spread of no containers, a dependency on oneself


@given(amount=AMOUNTS, digits=st.integers(0, 18))
def test_every_amount_is_written_exactly(amount: int, digits: int) -> None:
    text = written(amount, 10**digits)
    assert exact(text) * 10**digits == amount
    assert len(str(text)) <= 64


@given(value=USAGES, digits=st.integers(0, 18))
def test_every_usage_is_read_back_as_the_same_float(value: float, digits: int) -> None:
    assert float(exact(written_real(value, 10**digits)) * 10**digits) == value


@given(scale=st.integers(1, 10**18))
def test_only_powers_of_ten_have_digits(scale: int) -> None:
    assert digits_of(scale) is None or 10 ** digits_of(scale) == scale


@few
@given(snapshot=snapshots(), scale=st.sampled_from([3, 1024, 10**12, 7 * 10**5]), seed=st.integers(0, 9))
def test_amounts_of_any_scale_and_size_survive(snapshot: Snapshot, scale: int, seed: int) -> None:
    cluster, rng = snapshot.cluster, np.random.default_rng(seed)
    capacity = ints(rng.integers(1, 2**59, cluster.machines.capacity.shape))
    mean = floats(rng.random(cluster.workloads.usage_mean.shape) * 1e9)
    odd = dataclasses.replace(
        cluster,
        resources=tuple(dataclasses.replace(resource, scale=scale) for resource in cluster.resources),
        machines=dataclasses.replace(cluster.machines, capacity=capacity, safety=capacity // 2),
        workloads=dataclasses.replace(cluster.workloads, usage_mean=mean),
    )
    read = again(dataclasses.replace(snapshot, cluster=odd), as_yaml=False)
    assert differences(odd, read.cluster) == []


@few
@given(snapshot=snapshots(), names=st.lists(NAMES, min_size=6, max_size=6, unique=True), as_yaml=st.booleans())
def test_any_text_without_control_characters_can_be_a_name(snapshot: Snapshot, names: list[str], as_yaml: bool) -> None:
    cluster = _renamed(snapshot.cluster, names)
    read = again(dataclasses.replace(snapshot, cluster=cluster), as_yaml=as_yaml)
    assert differences(cluster, read.cluster) == []


def _renamed(cluster: Cluster, names: list[str]) -> Cluster:
    machines = dataclasses.replace(cluster.machines, name=tuple(names[: len(cluster.machines.name)]))
    levels = (dataclasses.replace(cluster.levels[0], group=machines.name), *cluster.levels[1:])
    resources = tuple(Resource(name=name) for name, _ in zip(names, cluster.resources, strict=False))
    return dataclasses.replace(cluster, name=names[0], machines=machines, levels=levels, resources=resources)


@pytest.mark.parametrize("name", ["p.json", "p.yaml", "p.json.gz", "p.yml.gz"])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(snapshot=snapshots())
def test_a_placement_survives_writing_and_reading(name: str, tmp_path: Path, snapshot: Snapshot) -> None:
    formats.write_placement(tmp_path / name, snapshot.cluster, snapshot.placement)
    read = formats.read_placement(tmp_path / name, snapshot.cluster)
    assert differences(snapshot.placement, read) == []


@few
@given(cluster=clusters())
def test_a_default_objective_is_left_out(cluster: Cluster) -> None:
    snapshot = Snapshot(
        cluster=cluster, placement=Placement.empty(len(cluster.containers.name)), objective=Objective.default(cluster)
    )
    assert "objective" not in native_document(snapshot)
