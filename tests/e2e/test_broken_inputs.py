"""Every broken file gives its numbered faults, all of them, by name and value; nothing else ever escapes."""

from pathlib import Path

import pytest

from bayplan import formats
from bayplan.errors import InputError
from bayplan.model import Cluster

FOLDER = Path(__file__).parents[1] / "broken" / "native"
GOOD = Path(__file__).parents[2] / "examples" / "small.json"  # what each broken snapshot is a variation of

# file: (codes in the order of the faults, words that the message must say: the thing's name and its value)
BROKEN: dict[str, tuple[str, list[str]]] = {
    "a_list.json": ("E1011", ["(a list)"]),
    "allow_empty_set.json": ("E1307", ["rule '2 (allow)'", "(fast)"]),
    "allow_sets_apart.json": ("E1307", ["web", "(fast, slow)"]),
    "alpha_as_percent.json": ("E1110", ["rule '1 (confidence)'", "(99.9)"]),
    "alpha_of_one.json": ("E1110", ["rule '1 (confidence)'", "(1.0)"]),
    "bad_indentation.yaml": ("E1007", ["line 4", "column 12"]),
    "beyond_int64.json": ("E1106", ["m-0", "(9223372036854775808)"]),
    "binary.json": ("E1004", ["PNG"]),
    "capacity_is_a_number.json": ("E1101", ["m-2", "(8)"]),
    "co_locate_against_allow.json": ("E1305", ["rule '3 (co-locate)'", "(web-0, cart-0)"]),
    "co_locate_against_anti_affinity.json": ("E1304", ["rule '2 (co-locate)'", "(2)"]),
    "co_locate_against_interference.json": ("E1304", ["rule '2 (co-locate)'", "(1)"]),
    "co_locate_alone.json": ("E1111", ["rule '1 (co-locate)'", '(["web-0"])']),
    "co_locate_cycle.json": (
        "E1303 E1303 E1303",
        ["rule '2 (co-locate)'", "(cart-0)", "rule '3 (co-locate)'", "(db-main)", "(web-0)"],
    ),
    "co_locate_too_large.json": ("E1306", ["rule '1 (co-locate)'", "(cart-0, db-main: 5)"]),
    "co_locate_twice_in_one_group.json": ("E1203", ["rule '1 (co-locate)'", '("web-0")']),
    "containers_is_half.json": ("E1101", ["web", "(2.5)"]),
    "cut_off.json.gz": ("E1008", ["gzip"]),
    "deep.json": ("E1009", ["nested"]),
    "deep.yaml": ("E1009", ["nested"]),
    "depends_on_nothing.json": ("E1308", ["rule '1 (dependency)'", "(mail)"]),
    "double_container.json": ("E1201", ["database", '("web-0")']),
    "double_key.json": ("E1010", ["cpu", '(first "500m", then "700m")']),
    "double_key.yaml": ("E1010", ["name", '(first "shop", then "store")']),
    "double_level.json": ("E1201", ["level '2'", '("rack")']),
    "double_machine.json": ("E1201", ["m-0", '("m-0")']),
    "double_machine_set.json": ("E1010", ["fast", '(first ["m-0", "m-1"], then ["m-2"])']),
    "double_ratio.json": ("E1118", ['(["memory", "cpu", 3])']),
    "double_resource.json": ("E1010", ["cpu", '(first {"scale": 1000, "unit": "cores"}, then {"scale": 1})']),
    "double_service.json": ("E1201", ["shop", '("shop")']),
    "double_workload.json": ("E1201", ["web", '("web")']),
    "empty.json": ("E1003", ["(0 bytes)"]),
    "empty_name.json": ("E1111", ["1", '("")']),
    "endless_number.json": ("E1112", ["line 12", "5000 digits"]),
    "finer_than_a_base_unit.json": ("E1105", ["web", '("100u")']),
    "half_character.json": ("E1005", ["\\ud83d"]),
    "hop_of_unknown_level.json": ("E1202", ['("zone")']),
    "infinite_traffic.json": ("E1103", ["traffic '1'", "(Infinity)"]),
    "interferes_with_itself.json": ("E1309", ["rule '1 (interference)'", "(0)"]),
    "latin1.json": ("E1005", ["line 3", "0xe9"]),
    "level_called_machine.json": ("E1204", ["level '2'", '("machine")']),
    "limit_below_request.json": ("E1116", ["cart", '("900m")']),
    "machine_twice_in_a_set.json": ("E1203", ["fast", '("m-0")']),
    "machine_without_capacity.json": ("E1115", ["m-2", "(0)"]),
    "machine_without_rack.json": ("E1107", ["m-1", "'rack'"]),
    "machines_is_an_object.json": ("E1101", ['({"m-0": {"cpu": 16}})']),
    "many_alike.json": ("E1102 E1102 E1102 E1102 E1102 E1102 E1102", ["job-0", "(-1)", "7 such workloads"]),
    "missing_mean.json": ("E1107", ["cart", "'mean'"]),
    "missing_name.json": ("E1107", ["workload '2'", "'name'"]),
    "missing_workloads.json": ("E1107", ["'workloads'"]),
    "move_cost_of_unknown_workload.json": ("E1202", ['("shop")']),
    "move_costs_not_square.json": ("E1111", ["(2 rows of 2 to 2)"]),
    "name_is_a_number.json": ("E1101", ["1", "(12)"]),
    "nan_capacity.json": ("E1103", ["m-1", "(NaN)"]),
    "nan_usage.yaml": ("E1103", ["web", "(.nan)"]),
    "negative_capacity.json": ("E1102", ["m-1", "(-64)"]),
    "negative_clique.json": ("E1102", ["shop", "(-1)"]),
    "negative_limit.json": ("E1102", ["rule '1 (anti-affinity)'", "(-1)"]),
    "negative_replicas.json": ("E1102", ["web", "(-3)"]),
    "negative_request.json": ("E1102", ["web", '("-500m")']),
    "negative_std.json": ("E1102", ["cart", "(-0.1)"]),
    "negative_traffic.json": ("E1102", ["traffic '2'", "(-4)"]),
    "negative_weight.json": ("E1102", ["(-1)"]),
    "no_machines.json": ("E1111", ["([])"]),
    "no_resources.json": ("E1111", ["({})"]),
    "no_workloads.json": ("E1111", ["([])"]),
    "not_a_quantity.json": ("E1104", ["cart", '("2 gb")']),
    "not_really.json.gz": ("E1008", ["gzip"]),
    "on_too_long.json": ("E1401", ["cart", '(["m-0", "m-1"])']),
    "on_too_short.json": ("E1401", ["web", '(["m-0"])']),
    "only_spaces.json": ("E1003", ["(4 bytes)"]),
    "other_kind.json": ("E1011", ["apiVersion"]),
    "other_version.json": ("E1012", ["(2)"]),
    "pinned_nothing.json": ("E1111", ["rule '1 (pinned)'", "([])"]),
    "placement_list.json": ("E1101", ['(["m-0", "m-1"])']),
    "placement_machine_number.json": ("E1101", ["(0)"]),
    "placement_of_another_cluster.json": ("E1402 E1402 E1402", ["site-0", '("m-0")', "site-1", '("m-1")', "site-2", "(null)"]),
    "placement_shapes_and_names.json": (
        "E1101 E1101 E1402 E1403",
        ["web-0", "(7)", "cart-0", '(["m-0"])', "web-9", "web-1", '("m-9")'],
    ),
    "placement_several.json": ("E1402 E1403 E1402", ["web-9", '("m-0")', "web-1", '("m-9")', "shop", "(null)"]),
    "placement_truncated.json": ("E1006", ["line 1", "column 32"]),
    "placement_twice.json": ("E1010", ["web-0", '(first "m-0", then "m-2")']),
    "placement_twice.yaml": ("E1010", ["web-0", '(first "m-0", then "m-1")']),
    "placement_unknown_container.json": ("E1402", ["wbe-1", '("m-1")']),
    "placement_unknown_kind.json": ("E1011", ["(an object with the keys 'placements')"]),
    "placement_unknown_machine.json": ("E1403", ["web-1", '("m-11")']),
    "python_tag.yaml": ("E1007", ["os.getcwd"]),
    "ratio_of_zero.json": ("E1110", ["(0)"]),
    "ratio_to_itself.json": ("E1119", ['("cpu")']),
    "request_is_true.json": ("E1101", ["web", "(true)"]),
    "requests.json": ("E1011", ["(timed requests)"]),
    "rule_about_nothing.json": ("E1111", ["rule '1 (anti-affinity)'", "([])"]),
    "rule_of_unknown_container.json": ("E1202", ["rule '1 (pinned)'", '("web-3")']),
    "rule_of_unknown_level.json": ("E1202", ["rule '1 (anti-affinity)'", '("zone")']),
    "rule_of_unknown_resource.json": ("E1202", ["rule '1 (transient)'", '("disk")']),
    "rule_of_unknown_service.json": ("E1202", ["rule '1 (spread)'", '("store")']),
    "rule_of_unknown_set.json": ("E1202", ["rule '1 (allow)'", '("quick")']),
    "rule_of_unknown_workload.json": ("E1202", ["rule '1 (anti-affinity)'", '("wbe")']),
    "rule_without_kind.json": ("E1107", ["rule '1'", "anti-affinity"]),
    "safety_above_capacity.json": ("E1114", ["m-0", "(20)"]),
    "scale_of_zero.json": ("E1110", ["cpu", "(0)"]),
    "several_contradictions.json": (
        "E1115 E1301 E1302 E1304",
        ["m-2", "(0)", "rule '1 (spread)'", "(9)", "rule '3 (co-locate)'", "(2)"],
    ),
    "several_shapes.json": (
        "E1107 E1102 E1108 E1101 E1101",
        ["m-0", "web", "(-1)", "cart", "({})", "traffic '1'", '("much")', "rule '1 (anti-affinity)'", '("one")'],
    ),
    "several_values.json": (
        "E1201 E1105 E1202 E1403 E1202 E1202 E1202",
        [
            "m-0",
            '("m-0")',
            "web",
            '("1u")',
            "cart",
            '("gpu")',
            "database",
            '("m-8")',
            "traffic '1'",
            '("wob")',
            "rule '2 (allow)'",
            '("slow")',
            '("zone")',
        ],
    ),
    "some_text.txt": ("E1011", ["(a text)"]),
    "spread_beyond_groups.json": ("E1302", ["rule '1 (spread)'", "(3)"]),
    "spread_beyond_service.json": ("E1301", ["rule '1 (spread)'", "(3)"]),
    "sum_of_machines_beyond_int64.json": ("E1113", ["memory", "(17293822569102704640)"]),
    "sum_of_requests_beyond_int64.json": ("E1113", ["memory", "(13835058126149124096)"]),
    "target_of_unknown_resource.json": ("E1202", ['("gpu")']),
    "too_large_float.json": ("E1103", ["traffic '1'", "(1e999)"]),
    "too_many_replicas.json": ("E1110", ["web", "(1000000000)"]),
    "traffic_of_two.json": ("E1111", ["traffic '2'", '(["cart", "database"])']),
    "traffic_to_itself.json": ("E1117", ["traffic '2'", '("cart")']),
    "trailing_comma.json": ("E1006", ["line 8"]),
    "truncated.json": ("E1006", ["line 23"]),
    "truncated.yaml": ("E1007", ["line 3"]),
    "two_transient_modes.json": ("E1310", ["rule '2 (transient)'", "(sequential)"]),
    "unknown_group.json": ("E1202", ["m-2", '("r2")']),
    "unknown_key.json": ("E1108", ["web", "'requests'", "'request'"]),
    "unknown_level_of_machine.json": ("E1202", ["m-1", '("rak")']),
    "unknown_machine_in_on.json": ("E1403", ["web", '("m-7")']),
    "unknown_machine_in_set.json": ("E1202", ["fast", '("m-9")']),
    "unknown_mode.json": ("E1109", ["rule '1 (transient)'", '("together")']),
    "unknown_resource.json": ("E1202", ["web", '("gpu")']),
    "unknown_rule.json": ("E1109", ["rule '1 (anti-afinity)'", '("anti-afinity")']),
    "unknown_term.json": ("E1108", ["utilization", "'utilisation'"]),
    "unknown_top_key.json": ("E1108", ["'machinesets'", "'machine_sets'"]),
    "unknown_workload_in_traffic.json": ("E1202", ["traffic '1'", '("crat")']),
    "utf16.json": ("E1005", ["0xff"]),
    "version_as_text.json": ("E1012", ['("1")']),
    "wrong_shapes_and_contradictions.json": (
        "E1403 E1101 E1101 E1202 E1202 E1301 E1302 E1304",
        [
            "workload 'v': on entry 1",
            "rule '1 (anti-affinity)'",
            '("many")',
            "workload 'w': on entry 2",
            '("z")',
            "traffic '2'",
            '("x")',
            "rule '3 (pinned)'",
            '("w-9")',
            "rule '2 (spread)'",
            "(3)",
            "rule '4 (co-locate)'",
            "rule 5 (interference)",
        ],
    ),
    "wrong_shapes_and_wrong_values.json": (
        "E1101 E1101 E1105 E1101 E1203",
        [
            "machine 'b'",
            '("lots")',
            "workload 'v'",
            '("three")',
            "rule '1 (anti-affinity)'",
            '("many")',
            "workload 'u'",
            "rule '2 (pinned)'",
        ],
    ),
    "zero_bytes.json": ("E1004", ["zero byte"]),
    "zero_limit.json": ("E1110", ["rule '1 (anti-affinity)'", "(0)"]),
    "zero_traffic.json": ("E1110", ["traffic '2'", "(0)"]),
}


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """The cluster that the broken placements are about."""
    return formats.read(GOOD).cluster


def _fault_of(name: str, cluster: Cluster) -> InputError:
    with pytest.raises(InputError) as caught:
        if name.startswith("placement_"):
            formats.read_placement(FOLDER / name, cluster)
        else:
            formats.read(FOLDER / name)
    return caught.value


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gives_exactly_its_numbered_faults(name: str, cluster: Cluster) -> None:
    error = _fault_of(name, cluster)
    codes, words = BROKEN[name]
    assert " ".join(fault.code for fault in error.faults) == codes
    message = "\n".join(str(error).splitlines()[1:]).replace(str(FOLDER / name), "")
    missing = [word for word in words if word not in message]
    assert not missing, f"not said: {missing}\n{error}"


def test_every_file_of_the_folder_is_in_the_table() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(BROKEN)
    assert len(BROKEN) >= 45


def test_several_faults_are_reported_together_and_each_once(cluster: Cluster) -> None:
    several = [name for name in BROKEN if len(BROKEN[name][0].split()) > 1]
    assert len(several) >= 5
    for name in several:
        error = _fault_of(name, cluster)
        assert len(set(map(str, error.faults))) == len(error.faults) > 1


def test_the_message_names_the_file(cluster: Cluster) -> None:
    for name in BROKEN:
        assert str(_fault_of(name, cluster)).startswith(f"cannot use '{FOLDER / name}':")
