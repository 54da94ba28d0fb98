import subprocess

import pytest
from experiments import results

FIELDS = ("name", "value")


def test_rows_come_back_as_they_were_appended(tmp_path):
    path = tmp_path / "r.csv"
    assert results.rows(path) == []
    results.append(path, FIELDS, [{"name": "a, b", "value": "1"}])
    results.append(path, FIELDS, [{"name": "c", "value": "2"}])
    assert path.read_text().splitlines()[0] == "name,value"
    assert results.rows(path) == [{"name": "a, b", "value": "1"}, {"name": "c", "value": "2"}]


def test_an_empty_file_gets_its_header(tmp_path):
    path = tmp_path / "r.csv"
    path.touch()
    results.append(path, FIELDS, [{"name": "a", "value": "1"}])
    assert results.rows(path) == [{"name": "a", "value": "1"}]


def test_rows_with_other_columns_are_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "r.csv"
    results.append(path, FIELDS, [{"name": "a", "value": "1"}])
    before = path.read_text()
    with pytest.raises(ValueError, match="has the columns"):
        results.append(path, ("name", "seconds"), [{"name": "b", "seconds": "2"}])
    assert path.read_text() == before


def test_a_cell_that_fails_halfway_leaves_no_rows(tmp_path):
    path = tmp_path / "r.csv"
    with pytest.raises(ValueError, match="not in fieldnames"):
        results.append(path, FIELDS, [{"name": "a", "value": "1"}, {"name": "b", "wrong": "2"}])
    assert results.rows(path) == []


def test_only_what_stands_between_the_markers_is_replaced():
    page = "before\n<!-- t: generated -->\nold\n<!-- t: end -->\nafter\n"
    made = results.put(page, "t", ["| x |", "|---|"])
    assert made == "before\n<!-- t: generated -->\n| x |\n|---|\n<!-- t: end -->\nafter\n"
    assert results.put(made, "t", ["old"]) == page


def test_every_machine_is_named_once_with_its_commits():
    some = [("b", "2"), ("a", "9"), ("b", "1+"), ("b", "2")]
    measured = [{"machine": machine, "commit": commit} for machine, commit in some]
    assert results.measured_on(measured) == "a (commit 9) and b (commits 1+, 2)"


def test_a_page_without_the_marker_is_refused():
    with pytest.raises(ValueError, match="unpack"):
        results.put("no table here", "t", [])


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "src"), (*who, "commit", "-q", "-m", "a")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_the_commit_has_a_plus_exactly_while_src_has_changes(repository):
    clean = results.commit()
    assert len(clean) >= 7
    assert not clean.endswith("+")
    (repository / "results.csv").write_text("new\n")
    assert results.commit() == clean
    (repository / "src" / "a.py").write_text("a = 2\n")
    assert results.commit() == clean + "+"


def test_the_machine_is_stated_without_its_name():
    import platform

    assert "cores" in results.machine()
    assert platform.node() not in results.machine() or not platform.node()
