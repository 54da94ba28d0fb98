"""Parquet tables in a zip file: the same snapshots, the same faults, and what only archives and tables can get wrong."""

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders.differences import differences
from tests.property.test_native_round_trip import snapshots

from bayplan import formats
from bayplan.errors import InputError, UsageError
from bayplan.formats.native import build, read_native
from bayplan.formats.parquet import archive_of, build_tables, read_tables
from bayplan.formats.parquet import read as reading
from bayplan.formats.parquet.archive import packed, unpacked
from bayplan.formats.parquet.document import tables_document
from bayplan.formats.targets import read_target
from bayplan.model import Placement, Spread

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP = formats.read(EXAMPLES / "shop.yaml")
ARCHIVE = archive_of(SHOP)
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def changed(table=None, head=None, **columns):
    """The shop's archive with columns of a table replaced, or left out if they are None."""
    old_head, tables = unpacked(ARCHIVE, "x")
    tables = {name: content.to_pydict() for name, content in tables.items()}
    if table is not None:
        tables[table] = {key: value for key, value in {**tables[table], **columns}.items() if value is not None}
    new = {name: pa.table(content) for name, content in tables.items()}
    return packed(json.dumps({**old_head, **(head or {})}), new)


def machine_column(key, value):
    """Columns of the table of machines in which the first one has this value."""
    column = unpacked(ARCHIVE, "x").tables["machines"].to_pydict()[key]
    return {key: [value, *column[1:]]}


def faults_of(data):
    with pytest.raises(InputError) as raised:
        read_tables(data, "x")
    return str(raised.value)


@few
@given(snapshot=snapshots())
def test_every_value_survives_writing_and_reading(snapshot):
    read = build_tables(archive_of(snapshot), "x")
    read = replace(read, notes=tuple(note for note in read.notes if "has no workload" not in note))
    assert differences(snapshot, read) == []


@few
@given(snapshot=snapshots())
def test_the_document_of_the_tables_says_the_same(snapshot):
    data = archive_of(snapshot)
    assert differences(build(tables_document(*unpacked(data, "x")), "x"), build_tables(data, "x")) == []


def test_plain_tables_need_no_document(monkeypatch):
    monkeypatch.setattr(reading, "tables_document", None)  # not called
    assert differences(read_tables(ARCHIVE, "x"), SHOP) == []


def test_equal_snapshots_are_equal_bytes():
    assert archive_of(SHOP) == ARCHIVE == archive_of(read_tables(ARCHIVE, "x"))


def test_what_says_nothing_is_left_out():
    bare = formats.read(EXAMPLES / "web.yaml")
    names = zipfile.ZipFile(io.BytesIO(archive_of(bare))).namelist()
    assert "services.parquet" not in names or bare.cluster.services.clique.any()
    numbered = unpacked(archive_of(bare), "x").tables["containers"]
    assert "name" not in numbered.column_names and "name" in unpacked(ARCHIVE, "x").tables["containers"].column_names


def test_rows_of_containers_may_come_in_any_order_and_other_types():
    table = unpacked(ARCHIVE, "x").tables["containers"].to_pydict()
    order = [4, 0, 5, 1, 2, 3]  # web's three, cart, the database's two
    data = changed("containers", **{key: [column[row] for row in order] for key, column in table.items()})
    assert differences(read_tables(data, "x"), SHOP) == []
    small = [pa.scalar(value).as_py() for value in unpacked(ARCHIVE, "x").tables["machines"].to_pydict()["capacity.cpu"]]
    data = changed("machines", **{"capacity.cpu": pa.array(small, pa.int32())})
    assert differences(read_tables(data, "x"), SHOP) == []


def test_a_container_without_a_name_is_numbered():
    table = unpacked(ARCHIVE, "x").tables["containers"].to_pydict()
    names = [None if name.startswith("web") else name for name in table["name"]]
    assert differences(read_tables(changed("containers", name=names), "x"), SHOP) == []


def test_what_only_tables_lack_has_its_default():
    data = changed("machines", **{"safety.cpu": None})
    cluster = read_tables(data, "x").cluster
    assert (cluster.machines.safety == cluster.machines.capacity).all()
    assert not len(read_tables(changed("containers", machine=None), "x").placement.placed)


def test_notes_are_those_of_the_native_reader():
    data = changed("workloads", **{"usage.cpu": [None, 9000.0, None], "std.cpu": None})
    document = tables_document(*unpacked(data, "x"))
    read = read_tables(data, "x")
    assert any("above its limit" in note for note in read.notes)
    assert differences(read, read_native(document, "x")) == []


WRONG = {  # archive, code, words
    "no capacity": (changed("machines", **{"capacity.cpu": ["16"] * 4}), "E1015", "column 'capacity.cpu' has the wrong type"),
    "floats": (changed("machines", **{"capacity.cpu": [1.5] * 4}), "E1015", "expected whole numbers"),
    "missing": (changed("machines", name=None), "E1015", "column 'name' is missing"),
    "unknown column": (changed("machines", **{"capcity.cpu": [1] * 4}), "E1015", "did you mean 'capacity.cpu'"),
    "workload": (changed("containers", workload=["web"] * 4 + ["gone"] * 2), "E1202", "2 of its rows name an unknown workload"),
    "no workload": (changed("containers", workload=["web"] * 5 + [None]), "E1202", "null"),
    "machine": (changed("containers", machine=["m-0"] * 5 + ["m-9"]), "E1403", "names an unknown machine"),
    "double": (changed("machines", **machine_column("name", "m-1")), "E1201", "is there already"),
    "double container": (changed("containers", name=["a"] * 2 + list("bcde")), "E1201", "is there already"),
    "empty name": (changed("containers", name=["", *"abcde"]), "E1111", "is empty"),
    "odd name": (changed("containers", name=["a\n", *"bcdef"]), "E1205", "control character"),
    "no name": (changed("machines", **machine_column("name", None)), "E1101", "must be a string"),
    "negative": (changed("machines", **machine_column("capacity.cpu", -1)), "E1102", "is negative"),
    "safety": (changed("machines", **machine_column("safety.cpu", 10**9)), "E1114", "is above the capacity"),
    "sum": (changed("machines", **machine_column("capacity.memory", 2**63 - 1)), "E1113", "add up"),
    "nothing": (changed("workloads", **{"request.memory": [2**62] * 3}), "E1113", "add up"),
    "group": (changed("machines", **machine_column("at.rack", None)), "E1107", "'rack' is missing"),
    "limit": (changed("workloads", **{"limit.cpu": [0, 0, 0]}), "E1116", "is below the request"),
    "usage": (changed("workloads", **{"usage.cpu": [float("nan")] * 3}), "E1103", "is not finite"),
    "to itself": (changed("traffic", **{"from": ["web"] * 2, "to": ["web"] * 2}), "E1117", "to itself"),
    "weight": (changed("traffic", weight=[0.0, 1.0]), "E1110", "out of range"),
    "traffic": (changed("traffic", to=["web", "gone"]), "E1202", "unknown workload"),
    "rule": (changed(head={"rules": [{"rule": "spread", "service": "gone", "minimum": 1}]}), "E1202", "unknown service"),
    "contradiction": (changed(head={"rules": [{"rule": "spread", "service": "shop", "minimum": 99}]}), "E1301", "fewer"),
    "head": (changed(head={"machines": []}), "E1108", "unknown key 'machines'"),
    "version": (changed(head={"bayplan": 2}), "E1012", "version"),
    "level": (changed(head={"levels": ["rack", "rack"]}), "E1201", "is there already"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_code(name):
    data, code, words = WRONG[name]
    message = faults_of(data)
    assert code in message and words in message


def test_parallel_edges_are_added_up_with_a_note():
    read = read_tables(changed("traffic", **{"from": ["web", "cart"], "to": ["cart", "web"], "weight": [1.0, 2.5]}), "x")
    assert read.cluster.traffic.weight.tolist() == [3.5]
    assert any("parallel" in note for note in read.notes)


def test_rules_that_cannot_hold_do_not_keep_a_placement_from_being_read(tmp_path):
    cluster = replace(SHOP.cluster, rules=(Spread(service=0, minimum=99),))
    file = tmp_path / "odd.zip"
    file.write_bytes(archive_of(replace(SHOP, cluster=cluster)))
    read = formats.read_placement(file, SHOP.cluster)
    assert isinstance(read, Placement) and differences(read, SHOP.placement) == []
    assert differences(read_target(file, SHOP).placement, SHOP.placement) == []


@pytest.mark.parametrize("missing", ["snapshot.json", "machines.parquet", "workloads.parquet", "containers.parquet"])
def test_an_archive_without_a_part_is_refused(missing):
    assert f"the archive has no {missing}" in faults_of(repacked(lambda name, data: None if name == missing else data))


def test_an_archive_with_a_file_of_its_own_is_refused():
    other = io.BytesIO(ARCHIVE)
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("readme.txt", "hello")
    assert "a file that is not known (readme.txt)" in faults_of(other.getvalue())


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("snapshot.json", b"[1]", "snapshot.json is not an object"),
        ("snapshot.json", b"{", "E1006"),
        ("snapshot.json", b"\xff", "not UTF-8"),
        ("machines.parquet", b"PAR1", "machines.parquet cannot be read as Parquet"),
        ("containers.parquet", b"", "containers.parquet cannot be read as Parquet"),
    ],
)
def test_a_part_that_is_something_else_is_refused(file, content, words):
    assert words in faults_of(repacked(lambda name, data: content if name == file else data))


def repacked(change):
    """The shop's archive with each file changed, or left out if that gives None."""
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(ARCHIVE)) as old, zipfile.ZipFile(whole, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return whole.getvalue()


@settings(max_examples=75, deadline=None)
@given(place=st.integers(0, len(ARCHIVE) - 1), byte=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_archive_is_refused_or_says_the_same(place, byte, cut):
    damaged = ARCHIVE[:place] if cut else ARCHIVE[:place] + bytes([ARCHIVE[place] ^ byte]) + ARCHIVE[place + 1 :]
    try:
        read = read_tables(damaged, "x")
    except InputError as error:
        assert {fault.code for fault in error.faults} == {"E1014"}
    else:
        assert differences(read, SHOP) == []


def test_without_pyarrow_the_user_is_told_what_to_install(tmp_path, monkeypatch):
    file = tmp_path / "shop.zip"
    file.write_bytes(ARCHIVE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"reading Parquet tables needs pyarrow: pip install 'bayplan\[data\]'"):
        formats.read(file)
    with pytest.raises(UsageError, match="writing Parquet tables needs pyarrow"):
        formats.write(SHOP, file)


def test_only_clusters_have_tables(tmp_path):
    requests = formats.read_requests(EXAMPLES / "requests.json")
    with pytest.raises(UsageError, match="timed requests: this has no Parquet form"):
        formats.write(requests, tmp_path / "x.zip")


def test_other_files_do_not_load_pyarrow():
    read = f"formats.read({str(EXAMPLES / 'small.json')!r})"
    code = f"import sys; from bayplan import formats; {read}; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
