"""The examples of the native formats are read, and the docs show them word for word."""

from pathlib import Path

import pytest

from bayplan import formats
from bayplan.codes import CODES
from bayplan.model import RULES, UNPLACED, Objective

ROOT = Path(__file__).parents[4]
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("name", ["shop.yaml", "rules.yaml", "placement.json"])
def test_the_docs_show_the_example_word_for_word(name: str) -> None:
    language = Path(name).suffix.removeprefix(".")
    assert f"`examples/{name}`:\n\n```{language}\n{(EXAMPLES / name).read_text(encoding='utf-8')}```\n" in FORMATS


def test_the_shop_is_what_its_file_says() -> None:
    snapshot = formats.read(EXAMPLES / "shop.yaml")
    cluster = snapshot.cluster
    assert cluster.machines.capacity.tolist() == [[16_000, 64 * 2**30]] * 3 + [[8_000, 128 * 2**30]]
    assert cluster.machines.safety[0].tolist() == [12_000, 64 * 2**30]
    assert cluster.levels[1].group == ("r1", "r2")
    assert cluster.services.name == ("shop", "database")
    assert cluster.services.clique.tolist() == [0.5, 0.0]
    assert cluster.workloads.request.tolist() == [[500, 3 * 2**29], [1000, 2**31], [4000, 2**35]]
    assert cluster.workloads.usage_mean[1].tolist() == [300.0, 2.0**31]
    assert cluster.workloads.usage_std[1].tolist() == [100.0, 0.0]
    assert cluster.containers.name == ("web-0", "web-1", "web-2", "cart-0", "db-main", "db-copy")
    assert snapshot.placement.machine_of.tolist() == [0, 1, UNPLACED, 0, 2, 3]
    assert [rule.kind for rule in cluster.rules] == ["capacity", "anti-affinity", "spread", "allow", "pinned"]
    assert snapshot.objective.hop.tolist() == [1.0, 2.0]
    assert snapshot.notes == ("a web shop on four machines",)


def test_the_rules_example_has_all_kinds() -> None:
    snapshot = formats.read(EXAMPLES / "rules.yaml")
    assert {rule.kind for rule in snapshot.cluster.rules} == set(RULES)
    objective = snapshot.objective
    assert objective.explicit
    assert objective.ratio.tolist() == [[1, 4], [0.25, 1]]
    assert objective.overload_weight[0] == 10
    assert objective.overload_weight[1] == Objective.default(snapshot.cluster).overload_weight[1]
    assert objective.move_costs is not None
    assert objective.move_costs.container.tolist() == [1, 5, 0]
    assert objective.move_costs.service_weight == 10


def test_the_placement_example_fits_the_shop() -> None:
    cluster = formats.read(EXAMPLES / "shop.yaml").cluster
    assert formats.read_placement(EXAMPLES / "placement.json", cluster).machine_of.tolist() == [1, 2, UNPLACED, 1, 2, 3]


def test_the_docs_name_only_codes_that_exist() -> None:
    named = {word.strip("[](),.") for word in FORMATS.replace("]", " ").split() if word.strip("[](),.").startswith("E1")}
    assert named <= set(CODES)
