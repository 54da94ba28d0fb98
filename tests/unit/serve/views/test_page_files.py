"""The files of the page: whole, from here only, and with nothing that a strict policy would refuse."""

import re

import pytest

from bayplan.model.goal import GOALS
from bayplan.serve.views.page_files import EXPORTS, POLICY, page_files

FILES = page_files()


def text(name):
    return FILES[name].content.decode()


def modules():
    return [name for name in FILES if name.endswith(".js")]


def test_no_file_names_another_host():
    for name in FILES:
        addresses = set(re.findall(r"(?:https?:)?//[a-z0-9][\w.-]+\.\w+", text(name)))
        assert addresses <= {"http://www.w3.org", "//www.w3.org"}, name


def test_the_page_has_no_script_and_no_style_of_its_own():
    page = text("index.html")
    assert "<style" not in page and " style=" not in page and not re.search(r"\son\w+=", page)
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []
    assert "unsafe-inline" not in re.sub("style-src-attr 'unsafe-inline'", "", POLICY)
    assert "unsafe-eval" not in POLICY


@pytest.mark.parametrize("name", modules())
def test_every_import_is_there(name):
    for source in re.findall(r'from "\./([\w.]+)"', text(name)):
        assert source in FILES
        for names in re.findall(r"import \{([^}]*)\} from \"\./" + re.escape(source), text(name)):
            assert {one.strip() for one in names.split(",")} <= exported(source), (name, source)


def exported(name):
    """What a module exports by name."""
    declared = re.findall(r"^export (?:const|(?:async )?function|class) (\w+)", text(name), re.MULTILINE)
    listed = re.findall(r"^export \{([^}]*)\}", text(name), re.MULTILINE)
    return {*declared, *(one.strip() for names in listed for one in names.split(","))}


def test_the_report_gives_what_it_promises():
    script = text("report.js")
    assert all(re.search(rf"^(?:async )?(?:function|class|const) {name}\b", script, re.MULTILINE) for name in EXPORTS)
    assert "start();" not in script


def test_the_goals_are_those_of_the_library():
    assert all(f'"{goal.name}"' in text("goals.js") and goal.about in text("goals.js") for goal in GOALS.values())


def test_every_panel_of_the_page_has_a_title():
    page, scripts = text("index.html"), "".join(map(text, modules()))
    for title in re.findall(r'aria-labelledby="([\w-]+)"', page):
        assert f'id: "{title}"' in scripts
