"""The binary with all parts of the control plane: built once from the Go module beside this file, kept outside of the repository.

`python -m tests.kubernetes.binary` builds it if it is not there and prints its path.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

MODULE = Path(__file__).parent / "control_plane"
VERSION = "1.36.4"  # of Kubernetes, as in go.mod
_STAMP = "k8s.io/component-base/version"  # where a server reads its own version
LINKER_FLAGS = f"-s -w -X {_STAMP}.gitVersion=v{VERSION} -X {_STAMP}.gitMajor=1 -X {_STAMP}.gitMinor=36"
JOBS = "2"


def path() -> Path:
    """Where the binary of these very Go files is, or will be."""
    digest = hashlib.sha256(LINKER_FLAGS.encode())
    for file in sorted([*MODULE.glob("*.go"), MODULE / "go.mod", MODULE / "go.sum"]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return cache() / "control-plane" / digest.hexdigest()[:16] / "control-plane"


def cache() -> Path:
    """The folder outside of the repository for what takes long to make."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan"


def missing() -> str:
    """What there is not, in words; nothing if a control plane can be started."""
    try:
        import kubernetes  # noqa: F401
    except ImportError:
        return "no Kubernetes client: install the extra [kube]"
    if not path().exists() and shutil.which("go") is None:
        return "no go on the PATH: it builds the control plane that these tests run on"
    return ""


def skip_or_fail(words: str) -> NoReturn:
    """Skip a test with a reason, or fail it where the control plane is required."""
    if os.environ.get("BAYPLAN_KUBERNETES") == "required":
        pytest.fail(words, pytrace=False)
    pytest.skip(words)


def built() -> Path:
    """The binary; building it takes about 15 minutes on two cores the first time, a minute when Go's own cache is warm."""
    binary = path()
    if binary.exists():
        return binary
    print(f"building the control plane into {binary.parent}: about 15 minutes the first time", file=sys.stderr, flush=True)
    binary.parent.mkdir(parents=True, exist_ok=True)
    unfinished = binary.with_name(f"unfinished-{os.getpid()}")
    command = ["nice", "-n", "10", "go", "build", "-p", JOBS, "-trimpath", "-ldflags", LINKER_FLAGS, "-o", str(unfinished), "."]
    subprocess.run(command, cwd=MODULE, check=True)
    unfinished.rename(binary)  # two builds at a time do no harm
    return binary


if __name__ == "__main__":
    if words := missing():
        sys.exit(words)
    print(built())
