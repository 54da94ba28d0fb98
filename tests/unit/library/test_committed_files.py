"""Committed files say nothing about the machine that they were written on, nor about where packages are fetched from."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = re.compile(r"(?<![\w.~-])/(?:work|tmp|root|home/\w+|Users/\w+|mnt|scratch)/[\w.-]")  # of one machine
HOSTS = re.compile(  # of package registries and their mirrors; brackets, so that this file does not name them either
    r"py[p]i\.(?:org|io|python)|python[h]osted|npm[j]s\.|yarn[p]kg|crates[.]io|ana[c]onda\.|conda[-]forge|art[i]factory|"
    r"nexus[.]|--(?:extra-)?index[-]url|find[-]links|trusted[-]host|/simple[/]\s*$",
    re.IGNORECASE,
)


def _committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone: nothing is committed")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _lines_with(pattern: re.Pattern[str]) -> list[str]:
    """Where the pattern occurs in text files."""
    places = []
    for file in _committed():
        content = file.read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8", errors="replace").splitlines()
        places += [
            f"{file.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
            for number, line in enumerate(lines, 1)
            if pattern.search(line)
        ]
    return places


def test_no_path_of_one_machine_is_committed():
    assert _lines_with(FOLDERS) == []


def test_no_address_of_a_package_registry_is_committed():
    assert _lines_with(HOSTS) == []


def test_versions_are_locked_without_addresses():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.parametrize("line", ["see /w" + "ork/main/x.py", "cd /t" + "mp/a", "https://py" + "pi.org/x", "--index" + "-url x"])
def test_these_checks_can_fail(line):
    assert FOLDERS.search(line) or HOSTS.search(line)
