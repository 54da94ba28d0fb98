"""axe-core, which judges whether people with a keyboard or a screen reader can use a page; kept outside of the repository.

`python -m tests.browser.axe` fetches it with npm if it is not there and prints its path.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

VERSION = "4.10.3"


def path() -> Path:
    """Where the script is, or will be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "bayplan" / f"axe-core-{VERSION}" / "axe.min.js"


def missing() -> str:
    """What there is not, in words; nothing if the script is there or can be fetched."""
    return "" if path().exists() or shutil.which("npm") else "no npm on the PATH: it fetches axe-core"


def script() -> str:
    """The script, fetched once."""
    if not path().exists():
        path().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, f"axe-core@{VERSION}"]
            subprocess.run(command, check=True, capture_output=True, timeout=300)
            arrived = path().with_suffix(f".{os.getpid()}")
            shutil.copyfile(Path(folder) / "node_modules" / "axe-core" / "axe.min.js", arrived)
            arrived.replace(path())
    return path().read_text(encoding="utf-8")


if __name__ == "__main__":
    script()
    print(path())
