"""helm and kustomize, built once by `go install` and kept outside of the repository; what they make of `deploy/`.

`python -m tests.kubernetes.renderers` builds them if they are not there and prints their paths.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml
from tests.kubernetes import binary
from tests.kubernetes.objects import CLUSTER_WIDE, Json, path_of

from bayplan.kubernetes.client import Client

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "bayplan"
KUSTOMIZE = ROOT / "deploy" / "kustomize"
TOOLS = {  # command -> (Go package, version)
    "helm": ("helm.sh/helm/v3/cmd/helm", "v3.21.4"),
    "kustomize": ("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1"),
}
FIELD_MANAGER = "tests"


def built(name: str) -> str:
    """The command; building it takes a few minutes the first time."""
    package, version = TOOLS[name]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    command = cache / "bayplan" / "tools" / f"{name}-{version}" / name
    if not command.exists():
        if shutil.which("go") is None:
            binary.skip_or_fail(f"no go on the PATH: it builds {name}")
        unfinished = command.parent / f"unfinished-{os.getpid()}"
        unfinished.mkdir(parents=True)
        environment = {**os.environ, "GOBIN": str(unfinished)}
        subprocess.run(["nice", "go", "install", "-p", "2", "-trimpath", f"{package}@{version}"], check=True, env=environment)
        (unfinished / name).rename(command)  # two builds at a time do no harm
        unfinished.rmdir()
    return str(command)


def helm(*arguments: str) -> str:
    """What helm prints; CalledProcessError with its words if it fails."""
    return subprocess.run([built("helm"), *arguments], check=True, capture_output=True, text=True).stdout


def chart_objects(*values: str, namespace: str = "bayplan", release: str = "bayplan") -> list[Json]:
    """The objects of the chart with some values, such as `mode=auto`."""
    chosen = [word for value in values for word in ("--set", value)]
    return _read(helm("template", release, str(CHART), "--namespace", namespace, "--kube-version", binary.VERSION, *chosen))


def kustomize_objects(folder: str) -> list[Json]:
    """The objects of a folder of `deploy/kustomize`."""
    command = [built("kustomize"), "build", str(KUSTOMIZE / folder)]
    return _read(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def apply(client: Client, objects: list[Json], **parameters: Any) -> list[Json]:
    """Put objects on the cluster, by server-side apply; what they are then."""
    return [
        client.patch(path_of(each), each, kind="apply", fieldManager=FIELD_MANAGER, fieldValidation="Strict", **parameters)
        for each in sorted(objects, key=lambda each: each["kind"] not in CLUSTER_WIDE)  # a namespace before what is in it
    ]


def _read(text: str) -> list[Json]:
    return [each for each in yaml.safe_load_all(text) if each]


if __name__ == "__main__":
    print(*(built(name) for name in TOOLS), sep="\n")
