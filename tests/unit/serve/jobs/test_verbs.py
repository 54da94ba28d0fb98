"""The options of jobs are the arguments of the library, and a wrong one is named with its value and what is expected."""

import inspect
from typing import get_args, get_type_hints

import jsonschema
import pytest

import bayplan as bp
from bayplan.serve.jobs.verbs import VERBS, OptionLimits, options_of, options_schema, read_options, with_limits

NEVER = {"progress", "resume", "checkpoint", "fleet", "patterns", "plan", "why", "engine"}  # callbacks, paths, arrays


def _arguments(verb):
    """All arguments of the library's function but the first."""
    call = VERBS[verb].call
    names = list(inspect.signature(call).parameters)[1:]
    for name in list(names):
        if inspect.signature(call).parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            names.remove(name)
            names += get_type_hints(get_args(get_type_hints(call)[name])[0])
    return set(names)


@pytest.mark.parametrize("verb", VERBS)
def test_every_argument_that_json_can_carry_is_an_option(verb):
    assert _arguments(verb) - set(options_of(verb)) <= NEVER
    assert not set(options_of(verb)) & NEVER


@pytest.mark.parametrize("verb", VERBS)
def test_the_schema_of_options_is_a_schema_and_accepts_nothing_unknown(verb):
    schema = options_schema(verb)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not jsonschema.Draft202012Validator(schema).is_valid({"nothing of the kind": 1})


def test_no_option_takes_a_path_of_the_server():
    for verb in VERBS:
        for name, option in options_of(verb).items():
            assert "path" not in name and "file" not in name, (verb, name)
            assert "PathLike" not in str(option.kind.schema)


GOOD = [
    ("plan", {"goal": "balance", "seconds": 5, "max_moves": "10%", "freeze": ["web-*"], "weights": {"balance": 1}}),
    ("plan", {"goal": {"name": "mine", "balance": 1.0, "price": 2}, "what_if": {"drain": ["a1"], "scale": {"cart": 9}}}),
    ("plan", {"limits": {"batch": 4}, "costs": {"pull": 3}, "seconds": None, "budget": {"iterations": 5, "threads": 2}}),
    ("rebalance", {"method": "greedy", "seed": 3, "objective": "steady", "target": None}),
    ("migrate", {"target": {"web-0": "m-1", "web-1": None}, "alive": 0.5}),
    ("migrate", {"target": f"sha256-{'a' * 64}"}),
    ("pack", {"confidence": 0.99, "samples": {"web": [1, 2.5]}, "confidence_of": {"web": 0.999}}),
    ("schedule", {"machines": 3, "profit": {"prod": 10}, "capacity": {"cpu": "4", "memory": 2}}),
    ("sweep", {"machines": [1, 2, 3], "serve": 0.9}),
    ("admit", {"method": "primal-dual", "value_ratio": 50}),
    ("what-if", {"what_if": {"fail_zone": ["zone=west"], "traffic_times": 2}}),
    ("explain", {"name": "web-0"}),
    ("check", {"before": {"web-0": "m-1"}}),
]


@pytest.mark.parametrize(("verb", "options"), GOOD, ids=[f"{verb}-{n}" for n, (verb, _) in enumerate(GOOD)])
def test_what_the_library_takes_is_taken_and_the_schema_agrees(verb, options):
    values = read_options(verb, options)
    assert values.keys() == options.keys()
    assert jsonschema.Draft202012Validator(options_schema(verb)).is_valid(options)


def test_values_become_those_of_the_library():
    values = read_options("plan", {"what_if": {"drain": ["a1"]}, "goal": {"name": "mine"}, "budget": {"seconds": 1}})
    assert values["what_if"] == bp.WhatIf(drain=("a1",))
    assert values["goal"] == bp.Goal(name="mine")
    assert values["budget"] == bp.Budget(seconds=1.0)


BAD = [
    ("plan", {"secons": 5}, "E2731", "secons", "5", "did you mean 'seconds'?"),
    ("plan", {"seconds": "five"}, "E2732", "seconds", '"five"', "a number"),
    ("plan", {"seconds": -1}, "E2732", "seconds", "-1", "from 0 to 3600"),
    ("plan", {"goal": "ballance"}, "E2732", "goal", '"ballance"', "steady"),
    ("plan", {"what_if": {"drain": [1]}}, "E2732", "what_if.drain[0]", "1", "a text"),
    ("plan", {"limits": {"batch": 0}}, "E2732", "limits", '{"batch": 0}', "1 or more"),
    ("plan", {"threads": 10_000}, "E2732", "threads", "10000", "from 1 to 8"),
    ("rebalance", {"method": "serch"}, "E2732", "method", '"serch"', "sweep-search"),
    ("rebalance", {"seed": True}, "E2732", "seed", "true", "a whole number"),
    ("rebalance", {"weights": {"overload": "much"}}, "E2732", "weights.overload", '"much"', "a number"),
    ("migrate", {}, "E2733", "target", "", "the id of a snapshot"),
    ("explain", {"name": 7}, "E2732", "name", "7", "a text"),
    ("show", {"before": {}}, "E2731", "before", "{}", "none: show has no options"),
    ("plan", [], "E2732", "options", "[]", "options by name"),
]


@pytest.mark.parametrize(("verb", "options", "code", "name", "value", "expected"), BAD, ids=[f"{row[0]}-{row[3]}" for row in BAD])
def test_a_wrong_option_is_named_with_its_value_and_what_is_expected(verb, options, code, name, value, expected):
    with pytest.raises(bp.InputError) as raised:
        read_options(verb, options)
    (fault,) = raised.value.faults
    assert (fault.code, fault.name, fault.value) == (code, name, value)
    assert expected in fault.expected


def test_all_wrong_options_are_named_at_once():
    with pytest.raises(bp.InputError) as raised:
        read_options("plan", {"alive": None, "front": 1, "sed": 2})
    assert [fault.name for fault in raised.value.faults] == ["alive", "front", "sed"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "1", None, [], {}])
def test_a_number_is_a_finite_number(value):
    with pytest.raises(bp.InputError):
        read_options("plan", {"alive": value})


def test_the_limits_of_the_server_hold_where_the_library_has_none():
    limits = OptionLimits(seconds=60, threads=2)
    capacity = with_limits(options_of("capacity", limits), read_options("capacity", {}, limits), limits)
    assert capacity["seconds"] == 60
    stated = read_options("place", {"budget": {"iterations": 10**9, "threads": 64}}, limits)
    assert with_limits(options_of("place", limits), stated, limits)["budget"] == bp.Budget(iterations=10**9, threads=2)
    stated = read_options("place", {"budget": {"seconds": 1e6}}, limits)
    assert with_limits(options_of("place", limits), stated, limits)["budget"] == bp.Budget(seconds=60)


def test_an_error_that_was_not_expected_has_a_number_of_its_own():
    from bayplan.serve.jobs.worker import failure

    told = failure(ZeroDivisionError("division by zero"))
    assert told["code"] == "E2746" and "ZeroDivisionError: division by zero" in told["detail"]
    assert failure(bp.UsageError("no such thing"))["code"] is None
