"""Opening, unpacking, parsing and writing files."""

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from bayplan.errors import InputError, WorldError
from bayplan.formats.document.text import parse_document, read_document, read_text, write_text_atomically


def code_of(path: Path | str) -> str:
    with pytest.raises(InputError) as caught:
        read_document(path)
    return caught.value.faults[0].code


def test_a_missing_file_a_folder_and_an_impossible_name_have_codes(tmp_path: Path) -> None:
    assert code_of(tmp_path / "nowhere.json") == "E1001"
    assert code_of(tmp_path) == "E1002"
    assert code_of("a\0b.json") == "E1001"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_has_a_code(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    path.chmod(0)
    assert code_of(path) == "E1001"


def test_json_and_yaml_are_told_apart_by_suffix_or_first_letter(tmp_path: Path) -> None:
    for name, text in {"a.json": '{"x": 1}', "a.yaml": "x: 1", "a.yml": '{"x": 1}', "a": "x: 1", "b": '\n{"x": 1}'}.items():
        (tmp_path / name).write_text(text)
        assert read_document(tmp_path / name) == {"x": 1}


def test_gzip_is_seen_by_its_bytes_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(gzip.compress(b'{"x": 1}'))
    (tmp_path / "b.json.gz").write_bytes(b'{"x": 1}')
    assert read_document(tmp_path / "a.json") == read_document(tmp_path / "b.json.gz") == {"x": 1}


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"x": 1}')
    assert read_document(tmp_path / "a.json") == {"x": 1}


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x: 1")))
    assert read_document("-") == {"x": 1}


def test_yaml_has_the_values_of_json_only() -> None:
    text = "a: no\nb: 12:30\nc: 2026-01-01\nd: 1e3\ne: 0x10\nf: ~\ng:\nh: true\n1: on\ni: 1_000\nj: '7'\nk: .5\nl: 010"
    expected = {"a": "no", "b": "12:30", "c": "2026-01-01", "d": 1000.0, "e": "0x10", "f": None, "g": None}
    expected |= {"h": True, "1": "on", "i": "1_000", "j": "7", "k": 0.5, "l": "010"}
    assert parse_document(text, "x.yaml") == expected


def test_yaml_aliases_that_hold_themselves_end() -> None:
    document = parse_document("a: &a [1, *a]", "x.yaml")
    assert isinstance(document, dict)


@pytest.mark.parametrize(
    "text", ["a: !!timestamp x", "a: !!binary zz", "? [1]\n: 2", "a: !!int x", "a: !!bool x", "a: 1\n---\nb: 2"]
)
def test_odd_yaml_is_a_fault(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(text, "x.yaml")
    assert caught.value.faults[0].code == "E1007"


@pytest.mark.parametrize("text", ["- " * 5000 + "x", "[" * 5000, "{a: " * 5000, "- [" * 3000])
def test_deep_yaml_does_not_end_the_process(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(text, "x.yaml")
    assert caught.value.faults[0].code in {"E1009", "E1007"}


def test_brackets_in_a_text_are_not_nesting() -> None:
    assert parse_document(f"a: '{'[' * 500}'", "x.yaml") == {"a": "[" * 500}


def test_all_double_keys_are_reported() -> None:
    with pytest.raises(InputError) as caught:
        parse_document('{"a": 1, "a": 2, "b": {"c": 1, "c": 2, "c": 3}}', "x.json")
    assert sorted(fault.name for fault in caught.value.faults) == ["a", "c"]


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    write_text_atomically(tmp_path / name, '{"é": 1}\n')
    assert read_text(tmp_path / name) == '{"é": 1}\n'
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_gzip_output_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text_atomically(tmp_path / name, "same")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_dash_writes_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_text_atomically("-", "hello\n")
    assert capsys.readouterr().out == "hello\n"


def test_a_file_that_cannot_be_written_is_a_fault_of_the_world(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="cannot write"):
        write_text_atomically(tmp_path / "nowhere" / "x.json", "x")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x.json"
    target.write_text("old")
    monkeypatch.setattr(Path, "replace", _no_space)
    with pytest.raises(WorldError, match="No space"):
        write_text_atomically(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def _no_space(self: Path, target: Path) -> None:
    raise OSError(28, "No space left on device")


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_text_atomically("/dev/null", "x")
    assert Path("/dev/null").is_char_device()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_text_atomically(tmp_path / "link.json", "x")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "x"


def test_standard_input_is_read_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x: 1")))
    read_document("-")
    with pytest.raises(InputError, match="standard input can be read only once"):
        read_document("-")


def test_a_full_disk_gets_fitting_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", _no_space)
    with pytest.raises(WorldError, match="No space left on device; free some space"):
        write_text_atomically(tmp_path / "x.json", "new")


def test_what_yaml_has_beyond_json_is_named(tmp_path: Path) -> None:
    for text, words in {"a: &a {b: 1}\nc: {<<: *a}": "merge keys", "a: !foo 1": "tag '!foo'"}.items():
        with pytest.raises(InputError, match=words):
            parse_document(text, "x.yaml")
    assert parse_document("'<<': 1", "x.yaml") == {"<<": 1}


@pytest.mark.parametrize(("text", "line"), [("a:\n\t- b\n", 2), ("a:\n  b: 1\n\tc: 2\n", 3), ("\ta: 1\n", 1)])
def test_a_tab_that_indents_yaml_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"line {line}: a tab indents this line, which YAML does not allow; expected spaces"):
        parse_document(text, "x.yaml")


def test_a_tab_elsewhere_is_not_blamed() -> None:
    with pytest.raises(InputError, match="line 3 column 1"):
        parse_document("a: {\n\tb: 1\n", "x.yaml")
