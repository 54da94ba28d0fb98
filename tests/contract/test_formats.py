"""Every file format: the example of each is read, written, read back as the same value, compressed and piped.

A new format needs an example here; `docs/extending/format.md` lists the places that must know it.
"""

import gzip
import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.builders.differences import differences

import bayplan as bp
from bayplan import formats
from bayplan.errors import InputError
from bayplan.model import ClusterRequests, Snapshot, TimedRequests

EXAMPLES = Path(__file__).parents[2] / "examples"
VALUES = {  # file -> what it holds
    "admission.json": ClusterRequests,
    "gmrp/model_tiny.txt": Snapshot,
    "rasa.json": Snapshot,
    "requests.csv": TimedRequests,
    "requests.json": TimedRequests,
    "rules.yaml": Snapshot,
    "shop.yaml": Snapshot,
    "small.json": Snapshot,
    "stream.jsonl": ClusterRequests,
    "web.yaml": Snapshot,
}
BESIDE = {  # files that go with another one: how they are read
    "accepted.json": lambda path: formats.read_accepted(path, formats.read_admission(EXAMPLES / "admission.json")),
    "fleet.json": lambda path: formats.read_fleet(path, formats.read_requests(EXAMPLES / "requests.json").resources),
    "kubectl.json": lambda path: bp.kubernetes.read(path),
    "gmrp/assignment_tiny.txt": lambda path: formats.read_placement(path, formats.read(EXAMPLES / "gmrp/model_tiny.txt").cluster),
    "gmrp/solution_tiny.txt": lambda path: formats.read_placement(path, formats.read(EXAMPLES / "gmrp/model_tiny.txt").cluster),
    "placement.json": lambda path: formats.read_placement(path, formats.read(EXAMPLES / "shop.yaml").cluster),
    "moves.json": lambda path: formats.read_plan(path, formats.read(EXAMPLES / "shop.yaml").cluster),
    "plan.json": lambda path: formats.read_plan(path, formats.read(EXAMPLES / "rasa.json").cluster),
    "rasa-solution.json": lambda path: formats.read_placement(path, formats.read(EXAMPLES / "rasa.json").cluster),
    "samples.csv": lambda path: formats.read_samples(path, formats.read(EXAMPLES / "shop.yaml").cluster, 0),
    "samples.json": lambda path: formats.read_samples(path, formats.read(EXAMPLES / "shop.yaml").cluster, 0),
    "served.json": lambda path: formats.read_served(path, formats.read_requests(EXAMPLES / "requests.json")),
    "stream.csv": lambda path: formats.read_stream(path, zones=EXAMPLES / "admission.json"),
}
SUFFIX = {Snapshot: ".yaml", TimedRequests: ".json", ClusterRequests: ".jsonl"}


def test_every_example_is_covered():
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*") if path.is_file()}
    assert files == {*VALUES, *BESIDE}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_read_is_written_and_read_back(name, tmp_path):
    value = formats.read_any(EXAMPLES / name)
    assert isinstance(value, VALUES[name])
    copy = tmp_path / f"copy{SUFFIX[VALUES[name]]}"
    formats.write(value, copy)
    again = formats.read_any(copy)
    if isinstance(value, Snapshot):
        assert not differences(value.cluster, again.cluster)
        assert value.placement.machine_of.tolist() == again.placement.machine_of.tolist()
    else:
        assert not differences(value, again)


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".yaml.gz", ".zip", ".zip.gz"])
@pytest.mark.parametrize("name", [name for name, kind in VALUES.items() if kind is Snapshot])
def test_every_form_of_a_snapshot_says_the_same(name, suffix, tmp_path, monkeypatch):
    if "zip" in suffix:
        pytest.importorskip("pyarrow.parquet")
    snapshot, copy, again = formats.read(EXAMPLES / name), tmp_path / "copy.yaml", tmp_path / f"again{suffix}"
    formats.write(snapshot, copy)
    formats.write(formats.read(copy), again, form="parquet" if "zip" in suffix else "native")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(again.read_bytes())))
    for path in (again, "-") if "yaml" not in suffix else (again,):
        assert not differences(formats.read(copy), formats.read(path))
    half = tmp_path / f"half{suffix}"
    half.write_bytes(again.read_bytes()[: again.stat().st_size // 2])
    with pytest.raises(InputError, match="E10"):
        formats.read(half)


@pytest.mark.parametrize("name", [name for name in VALUES if not name.startswith("gmrp")])
def test_it_may_be_compressed_or_piped(name, tmp_path, monkeypatch):
    content = (EXAMPLES / name).read_bytes()
    packed = tmp_path / f"{Path(name).name}.gz"
    packed.write_bytes(gzip.compress(content))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    for path in (packed, "-"):
        assert isinstance(formats.read_any(path), VALUES[name])


@pytest.mark.parametrize("name", BESIDE)
def test_what_goes_with_another_file_is_read(name):
    assert BESIDE[name](EXAMPLES / name) is not None


@pytest.mark.parametrize("name", [*VALUES, *BESIDE])
def test_half_a_file_is_a_fault_with_a_code_or_less_of_it_never_a_crash(name, tmp_path):
    content = (EXAMPLES / name).read_text(encoding="utf-8")
    half = tmp_path / Path(name).name
    half.write_text(content[: len(content) // 2], encoding="utf-8")
    try:
        formats.read_any(half) if name in VALUES else BESIDE[name](half)
    except InputError as error:
        assert all(fault.code.startswith("E") for fault in error.faults)
