"""Samples of usage: tables and documents say the same, in base units; what is broken is named, all of it."""

import gzip
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from bayplan.api.packing.measured_usage import read_usage
from bayplan.errors import InputError
from bayplan.formats import read, read_samples, read_usage_series
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.text import read_document

ROOT = Path(__file__).parents[3]
EXAMPLES, BROKEN = ROOT / "examples", ROOT / "tests" / "broken" / "samples"
CPU, MEMORY = 0, 1

# file: (codes in the order of the faults, words that the message must say)
FILES = {
    "long-several-kinds.csv": (
        "E1104 E1202 E1102 E1103 E1106 E1104 E1901 E1104",
        [
            "line '3': is not a quantity (\"much\")",
            "line '4': names an unknown workload (\"wbe\")",
            "did you mean 'web'?",
            "line '5': is negative (\"-1\")",
            "line '6': is not finite (\"nan\")",
            "line '7': is beyond 2^63 - 1 base units",
            "line '9': has another number of cells than the header (3); expected 2",
            "without a leading zero",
        ],
    ),
    "double-column.csv": ("E1203", ["column 'web': occurs twice"]),
    "open-quote.csv": ("E1902", ["line 2 cannot be split into cells"]),
    "header-only.csv": ("E1111", ["has no samples below its header"]),
    "wide-empty-column.csv": ("E1111", ["column 'cart': has no samples"]),
    "wide-several-kinds.csv": (
        "E1202 E1901",
        ["column '2': names an unknown workload (\"crat\")", "line '3'", "(1); expected 2"],
    ),
    "several-kinds.json": (
        "E1102 E1101 E1111 E1108 E1104 E1102 E1104 E1202",
        [
            "sample 'web': entry 2",
            '("much")',
            "entry 3",
            "(true)",
            "sample 'cart': is empty",
            "'unit'",
            "entry 5",
            '("-2")',
            "'crat'",
        ],
    ),
    "misspelt.json": ("E1107 E1108", ["'samples' is missing", "did you mean 'samples'?"]),
    "nan.yaml": ("E1103", ["sample 'web': entry 2 is not finite (.nan)"]),
}


@pytest.fixture(scope="module")
def shop():
    return read(EXAMPLES / "shop.yaml").cluster  # web, cart, database; cpu in thousandths, memory in bytes


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_gives_exactly_its_numbered_faults(name, shop):
    with pytest.raises(InputError) as caught:
        read_samples(BROKEN / name, shop, CPU)
    codes, words = FILES[name]
    assert " ".join(fault.code for fault in caught.value.faults) == codes
    message = "\n".join(map(str, caught.value.faults))
    assert [word for word in words if word not in message] == []


def test_every_broken_file_is_in_the_table():
    assert {path.name for path in BROKEN.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", ["samples.csv", "samples.json"])
def test_the_examples_are_read_in_base_units(name, shop):
    samples = read_samples(EXAMPLES / name, shop, CPU)
    assert {w: value.tolist() for w, value in samples.items()} == {1: [210, 250, 340, 380], 0: [400, 500]}
    assert not samples[0].flags.writeable


def test_a_wide_table_may_have_columns_of_different_lengths(tmp_path, shop):
    path = tmp_path / "wide.csv.gz"
    path.write_bytes(gzip.compress(b'\n"cart", web \r\n1Gi,2\r\n\r\n,0.5\n'))
    samples = read_samples(path, shop, MEMORY)
    assert {w: value.tolist() for w, value in samples.items()} == {1: [2**30], 0: [2, 0.5]}


def test_columns_may_stand_in_any_order_and_names_may_have_commas(tmp_path, shop):
    path = tmp_path / "table.txt"
    path.write_text('value,workload\n1e-1,"web"\n')
    assert read_samples(path, shop, CPU)[0].tolist() == [100]
    path.write_text('value,workload\n1,"a, b"\n')
    with pytest.raises(InputError, match='unknown workload \\("a, b"\\)'):
        read_samples(path, shop, CPU)


def test_a_table_without_workloads_is_refused(tmp_path, shop):
    path = tmp_path / "t.csv"
    path.write_text("some text\n")
    with pytest.raises(InputError, match="column '1': names an unknown workload"):
        read_samples(path, shop, CPU)


def test_a_document_is_known_by_its_first_letter(tmp_path, shop):
    path = tmp_path / "samples"
    path.write_text(' {"samples": {"web": ["1.5"]}}')
    assert read_samples(path, shop, CPU)[0].tolist() == [1500]


def test_the_published_schema_is_the_one_in_use():
    used = ROOT / "src" / "bayplan" / "formats" / "document" / "schema" / "samples.json"
    assert (ROOT / "docs" / "schema" / "samples.json").read_bytes() == used.read_bytes()
    jsonschema.Draft202012Validator.check_schema(schema("samples"))
    jsonschema.Draft202012Validator(schema("samples")).validate(read_document(EXAMPLES / "samples.json"))


def test_the_docs_show_the_examples():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for name in ("samples.csv", "samples.json"):
        assert (EXAMPLES / name).read_text(encoding="utf-8") in page


# ---- with times ----------------------------------------------------------------------------------------------------------------


def test_a_series_has_the_times_of_its_samples(shop):
    series = read_usage_series(EXAMPLES / "usage.csv", shop, CPU)
    assert (np.diff(series[1].time) == 1800).all()
    assert series[1].value.tolist() == [340, 380, 250, 270, 200]
    assert len(series[0].time) == 10 and len(np.unique(series[0].time)) == 5
    assert read_samples(EXAMPLES / "usage.csv", shop, CPU)[1].tolist() == [340, 380, 250, 270, 200]


def test_only_the_busiest_hour_is_taken(shop):
    assert read_usage(EXAMPLES / "usage.csv", shop, peak="service")["cart"].tolist() == [340, 380]
    both = read_usage(EXAMPLES / "usage.csv", shop, peak="cluster")  # three of web, one of cart
    assert (both["web"].tolist(), both["cart"].tolist()) == ([580, 490, 610, 520], [250, 270])
    assert read_usage(EXAMPLES / "usage.csv", shop, peak="service", window=1800)["cart"].tolist() == [380]


def test_times_are_seconds_or_dates(tmp_path, shop):
    path = tmp_path / "t.csv"
    path.write_text("time,value,workload\n1714557600,1,web\n2024-05-01T12:00:00+02:00,1,web\n2024-05-01 10:00,1,web\n")
    assert read_usage_series(path, shop, CPU)[0].time.tolist() == [1714557600] * 3
    path.write_text("time,value,workload\nnoon,1,web\n,1,web\n5,-1,web\n")
    with pytest.raises(InputError) as caught:
        read_usage_series(path, shop, CPU)
    assert [fault.code for fault in caught.value.faults] == ["E1101", "E1101", "E1102"]
    assert "line '2': has no time (\"noon\"); expected seconds such as 3600" in str(caught.value)


def test_a_peak_needs_times(shop):
    with pytest.raises(InputError, match="is no usage series; expected a table with the columns workload, time, value"):
        read_usage_series(EXAMPLES / "samples.csv", shop, CPU)
