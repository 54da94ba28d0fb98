"""Ray that cannot be used: one sentence each, which says what to do."""

import numpy as np
import pytest
from tests.builders import engine_jobs
from tests.builders.ray_cluster import OWN_TOKEN, STORE, connected, free_port, ray_cluster

import bayplan as bp
from bayplan.cli.main import main
from bayplan.engine import Job, Shared, engine_of

pytestmark = pytest.mark.ray
JOB = Job(name="job", call=engine_jobs.doubled, arguments=(1,))


def sentence(error: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


def refusal(engine, *jobs: Job) -> str:
    with pytest.raises(bp.WorldError) as error:
        engine.run(jobs or [JOB], workers=1)
    return sentence(error)


def stub(folder, version: str):
    """A folder in which `import bayplan` finds nothing, or another version."""
    package = folder / "bayplan"
    package.mkdir()
    (package / "__init__.py").write_text("" if version else "raise ModuleNotFoundError(\"No module named 'bayplan'\")\n")
    (package / "version.py").write_text(f"__version__ = '{version}'\n")
    return str(folder)


def test_an_address_where_nothing_answers():
    port = free_port()
    text = refusal(engine_of(f"ray:127.0.0.2:{port}"))
    assert text.startswith(
        f"engine 'ray:127.0.0.2:{port}': nothing answers at 127.0.0.2:{port} (Connection refused); expected the head"
    )


def test_an_address_that_is_none():
    text = refusal(engine_of("ray:somewhere"))
    assert (
        text == "engine 'ray:somewhere': address 'somewhere' is not understood; expected HOST:PORT such as 10.0.0.1:6379, or auto"
    )


def test_the_command_line_says_the_same_and_fails(tmp_path, capsys):
    file = tmp_path / "two.yaml"
    bp.write(bp.generate("rasa-m3"), file)
    address = f"127.0.0.2:{free_port()}"
    assert main(["collocate", str(file), "--method", "rasa", "--engine", f"ray:{address}", "--quiet"]) == 1
    assert capsys.readouterr().err.startswith(f"bayplan: engine 'ray:{address}': nothing answers at {address}")


@pytest.mark.parametrize(
    ("version", "has"), [("", "has no bayplan"), ("0.0.9", r"has bayplan 0\.0\.9 and Python 3\.\d+")], ids=["none", "other"]
)
def test_a_worker_without_the_same_bayplan(version, has, tmp_path):
    with ray_cluster(workers=0, head={"PYTHONPATH": stub(tmp_path, version)}) as cluster, connected(cluster) as engine:
        with pytest.raises(
            bp.WorldError, match=f"the worker on '.*' \\(.*\\) {has}; expected bayplan {bp.__version__} and Python"
        ) as error:
            engine.run([JOB], workers=1)
        sentence(error)


def test_a_cluster_that_wants_a_token(ray_nodes, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    text = refusal(engine_of(f"ray:{ray_nodes.address}"))
    assert text.startswith(f"engine 'ray:{ray_nodes.address}': the cluster wants its token: set RAY_AUTH_MODE=token here")


def test_an_object_store_that_is_full():
    full = {"RAY_local_fs_capacity_threshold": "0.0001"}  # the disk behind the store counts as full, too
    with ray_cluster(workers=0, head=full) as cluster, connected(cluster) as engine:
        large = Shared({"array": np.zeros(STORE // 4)})  # twice the store
        text = refusal(engine, Job(name="large", call=engine_jobs.summed, arguments=(large,)))
        assert "its object store is full, and so is the disk behind it: start Ray with more --object-store-memory" in text


def test_ray_started_here_and_ended_with_the_engine(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))  # where nothing is left behind
    for name in ("RAY_ADDRESS", *OWN_TOKEN):
        monkeypatch.delenv(name, raising=False)
    with engine_of("ray") as engine:
        assert engine.slots(2) == 2
        assert engine.run([JOB] * 3, workers=2) == [2, 2, 2]
    assert not (tmp_path / ".ray").exists()
