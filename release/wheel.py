"""A wheel with machine code in it: nothing is compiled on machines like most.

python -m release.wheel dist     makes it from the pure wheel that stands in that folder

The kernels of the pure wheel are compiled for x86-64-v3 and put beside them. The new wheel is for this minor version of Python
and for Linux on x86-64, and asks for the exact versions of Numba and llvmlite that compiled it. Where it cannot be installed the
pure wheel is; where something differs after all, kernels are compiled as from the pure wheel.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

SHIPPED = "bayplan/kernels/shipped"
SHIPPED_FOR = "x86-64-v3"
EXACT = ("numba", "llvmlite")
OLDEST = "manylinux_2_17_x86_64"  # kernels need no library but libm


def main() -> None:
    """Make the wheel, and print its name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pure wheel is, and where the new one goes")
    folder = parser.parse_args().folder
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        parser.error(f"this machine is {platform.system()} on {platform.machine()}; expected Linux on x86_64")
    pure = list(folder.glob("*-py3-none-any.whl"))
    if len(pure) != 1:
        parser.error(f"{folder} holds {len(pure)} pure wheels; expected one, from `make dist`")
    print(with_machine_code(pure[0]))


def with_machine_code(pure: Path) -> Path:
    """The path of a wheel like the pure one, with machine code."""
    with zipfile.ZipFile(pure) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with tempfile.TemporaryDirectory() as folder:
        files |= {f"{SHIPPED}/{path.name}": path.read_bytes() for path in _compiled(pure, Path(folder))}
    info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/WHEEL"))
    tag = f"{_python_tag()}-{_python_tag()}-{OLDEST}"
    files[f"{info}/WHEEL"] = _tagged(files[f"{info}/WHEEL"], tag)
    files[f"{info}/METADATA"] = _pinned(files[f"{info}/METADATA"])
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    made = pure.with_name(pure.name.replace("py3-none-any", tag))
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return made


def _compiled(wheel: Path, folder: Path) -> list[Path]:
    """Files in a folder with the machine code of all kernels of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "package")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "BAYPLAN"))},
        "PYTHONPATH": str(folder / "package"),
        "BAYPLAN_CACHE_DIR": str(folder / "machine-code"),
        "NUMBA_CPU_NAME": SHIPPED_FOR,
        "NUMBA_CPU_FEATURES": "",
    }
    subprocess.run([sys.executable, "-m", "bayplan", "warmup"], env=environment, cwd=folder, check=True)
    return sorted((folder / "machine-code").glob("*.kernel"))


def _python_tag() -> str:
    return f"cp{sys.version_info.major}{sys.version_info.minor}"


def _tagged(wheel_file: bytes, tag: str) -> bytes:
    text = re.sub(r"(?m)^Tag: .*$", f"Tag: {tag}", wheel_file.decode())
    return re.sub(r"(?m)^Root-Is-Purelib: true$", "Root-Is-Purelib: false", text).encode()


def _pinned(metadata: bytes) -> bytes:
    """What compiled the kernels, exactly."""
    head, _, body = metadata.decode().partition("\n\n")
    lines = [line for line in head.split("\n") if not re.match(rf"Requires-Dist: ({'|'.join(EXACT)})\b", line)]
    lines += [f"Requires-Dist: {name}=={version(name)}" for name in EXACT]
    return "\n".join([*lines, "", body]).encode()


def _record(files: dict[str, bytes], own: str) -> bytes:
    """Every file with its hash and size."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for name, content in files.items():
        if name != own:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            writer.writerow([name, f"sha256={digest}", len(content)])
    writer.writerow([own, "", ""])
    return text.getvalue().encode()


if __name__ == "__main__":
    main()
