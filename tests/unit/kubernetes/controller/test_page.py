"""The page about controllers is true: it lists every annotation, event and option that is in the code, and no other."""

import inspect
import re
from pathlib import Path

from bayplan.cli.options import controller as options
from bayplan.cli.options.controller import ActingOptions, RunningCluster
from bayplan.kubernetes.controller.events import CONTROLLER, EventReason

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "kubernetes" / "controller.md").read_text(encoding="utf-8")


def _rows(title):
    """The first cell of each row of the table in a section."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| `")]


def test_every_name_on_objects_is_listed():
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src/bayplan/kubernetes").rglob("*.py"))
    named = set(re.findall(r"(?:bayplan\.io/|\{PREFIX\})([a-z-]+)", sources)) - {CONTROLLER.partition("/")[2]}
    assert sorted(_rows("Annotations, labels and gates")) == sorted(f"`bayplan.io/{name}`" for name in named)


def test_every_event_is_listed_with_its_type():
    listed = re.findall(r"^\| `(\w+)` \| (Normal|Warning) \|", PAGE, re.MULTILINE)
    assert listed == [(reason.value, reason.type) for reason in EventReason]


def test_every_option_of_a_controller_is_listed():
    declared = set(re.findall(r'"(--[a-z-]+)"', inspect.getsource(options)))
    listed = set(re.findall(r"--[a-z-]+", PAGE))
    assert declared and declared <= listed
    assert (len(RunningCluster.__slots__), len(ActingOptions.__slots__)) == (7, 5)  # a new one belongs on the page
