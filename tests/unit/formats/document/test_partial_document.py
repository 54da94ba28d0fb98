"""What is left of a document without what is wrong with it."""

from bayplan.formats.document.partial_document import well_shaped, without_faults

SCHEMA = {
    "type": "object",
    "required": ["machines"],
    "additionalProperties": False,
    "properties": {
        "machines": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"cpu": {"type": "integer"}}}},
        "batches": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "sets": {"type": "object", "additionalProperties": {"type": "array"}},
    },
}


def test_a_document_without_faults_is_left_as_it_is():
    document = {"machines": [{"cpu": 1}]}
    faults, part = well_shaped(document, SCHEMA)
    assert faults == []
    assert part.document is document
    assert not part.lacks("machines", "sets")
    assert part.original(("machines", 0, "cpu")) == ("machines", 0, "cpu")


def test_items_with_a_fault_are_left_out_and_the_others_know_where_they_stood():
    document = {"machines": [{"cpu": "x"}, {"cpu": 1}, 7, {"cpu": 2}], "sets": {"a": 1, "b": []}}
    faults, part = well_shaped(document, SCHEMA)
    assert [fault.code for fault in faults] == ["E1101"] * 3
    assert part.document == {"machines": [{"cpu": 1}, {"cpu": 2}], "sets": {"b": []}}
    assert [part.original(("machines", i, "cpu")) for i in (0, 1)] == [("machines", 1, "cpu"), ("machines", 3, "cpu")]
    assert part.lacks("machines")
    assert part.lacks("batches", "sets")
    assert not part.lacks("batches")


def test_deeper_cuts_leave_out_less():
    document = {"machines": [{}], "batches": [[1, "x", 3], "wait", ["y", 5]]}
    _, part = well_shaped(document, SCHEMA, lambda path: path[:3])
    assert part.document["batches"] == [[1, 3], [5]]
    assert part.original(("batches", 0, 1)) == ("batches", 0, 2)
    assert part.original(("batches", 1, 0)) == ("batches", 2, 1)


def test_nothing_is_left_where_something_needed_is_gone():
    assert well_shaped({"machines": [1, 2]}, SCHEMA)[1] is None
    assert well_shaped({"machines": "many"}, SCHEMA)[1] is None
    assert well_shaped({}, SCHEMA)[1] is None
    assert well_shaped([], SCHEMA)[1] is None


def test_an_unknown_key_may_be_meant_for_an_absent_one_that_sounds_like_it():
    part = well_shaped({"machines": [{}], "setts": {}}, SCHEMA)[1]
    assert part.document == {"machines": [{}]}
    assert part.lacks("sets")
    assert not part.lacks("machines")
    assert not part.lacks("batches")


def test_the_document_itself_is_not_changed():
    document = {"machines": [1, {}]}
    without_faults(document, SCHEMA, [("machines", 0)])
    assert document == {"machines": [1, {}]}
