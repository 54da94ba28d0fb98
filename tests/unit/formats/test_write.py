"""One way to write: whole files, and solutions with what they are solutions of; refused before the work if it cannot be."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayplan import formats
from bayplan.errors import UsageError, WorldError
from bayplan.formats.native import native_document
from bayplan.model import Acceptance, Action, Plan, Schedule, Snapshot, Step

ROOT = Path(__file__).parents[3]


def two() -> Snapshot:
    b = formats.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="1Gi")
    return b.workload("web", cpu=1, memory=0, replicas=2, on=["m-0", None]).build()


@pytest.mark.parametrize("name", ["x.json", "x.yaml", "x.yml.gz", "x"])
def test_a_snapshot_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    formats.write(two(), tmp_path / name)
    assert native_document(formats.read(tmp_path / name)) == native_document(two())


def test_a_snapshot_may_be_written_as_rasa(tmp_path: Path) -> None:
    formats.write(two(), tmp_path / "x.json", form="rasa")
    assert formats.read(tmp_path / "x.json").format == "rasa"


def test_an_unknown_form_gets_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'rasa'"):
        formats.write(two(), tmp_path / "x.json", form="rassa")


@pytest.mark.parametrize("form", ["native", "rasa", "gmrp"])
def test_a_placement_has_the_form_of_its_snapshots_file(form: str, tmp_path: Path) -> None:
    snapshot = replace(two(), format=form)
    placement = replace(snapshot.placement, machine_of=np.array([1, 0]))
    formats.write(placement, tmp_path / "p", of=snapshot)
    assert formats.read_placement(tmp_path / "p", snapshot.cluster).machine_of.tolist() == [1, 0]
    first = {"native": '{"placement"', "rasa": '{"m-0"', "gmrp": "10"}[form]
    assert "".join((tmp_path / "p").read_text(encoding="utf-8").split()).startswith(first)


def test_plans_schedules_and_acceptances_are_written_with_what_they_belong_to(tmp_path: Path) -> None:
    snapshot, requests = two(), formats.read_requests(ROOT / "examples" / "requests.json")
    admission = formats.read_admission(ROOT / "examples" / "admission.json")
    plan = Plan(batches=((Step(Action.CREATE, 1, 1),),))
    formats.write(plan, tmp_path / "plan", of=snapshot)
    assert formats.read_plan(tmp_path / "plan", snapshot.cluster) == plan
    formats.write(Schedule(machine_of=np.array([0, -1, 1])), tmp_path / "served", of=requests)
    assert formats.read_served(tmp_path / "served", requests).machine_of.tolist() == [0, -1, 1]
    formats.write(Acceptance(zone_of=(None, np.array([0]))), tmp_path / "accepted", of=admission)
    assert formats.read_accepted(tmp_path / "accepted", admission).zone_of[0] is None


def test_a_solution_alone_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a Placement cannot be written alone: expected the snapshot or cluster"):
        formats.write(two().placement, tmp_path / "x")
    with pytest.raises(UsageError, match="a Schedule cannot be written alone: expected the timed requests"):
        formats.write(Schedule(machine_of=np.array([0])), tmp_path / "x", of=two())


# ---- what cannot be written is refused before the work ------------------------------------------------------------------------


def test_a_path_that_can_be_written_passes_and_nothing_is_created(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("{}", encoding="utf-8")
    for path in (tmp_path / "new.json", tmp_path / "old.json", "-", "/dev/null"):
        formats.expect_writable(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["old.json"]
    assert (tmp_path / "old.json").read_text(encoding="utf-8") == "{}"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"cannot write '.*/no/x.json': there is no folder '.*/no'; make it, or check the path"):
        formats.expect_writable(tmp_path / "no" / "x.json")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="it is a folder; give the name of a file in it"):
        formats.expect_writable(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(WorldError, match=r"'.*/a' is not a folder"):
        formats.expect_writable(tmp_path / "a" / "x.json")


def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(WorldError, match=r"the folder '.*' is not writable"):
        formats.expect_writable(tmp_path / "x.json")


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="cannot write"):
        formats.expect_writable(tmp_path / name)


def test_a_link_is_looked_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "no" / "x.json")
    with pytest.raises(WorldError, match="there is no folder"):
        formats.expect_writable(tmp_path / "link")
