import subprocess
import sys

import pytest

from bayplan.errors import UsageError
from bayplan.generate import GENERATORS, Generator, options, read_settings


def _sample(*, size: int = 3, share: float = 0.5, mode: str = "fast", seed: int = 0, progress: object = None) -> None: ...


SAMPLE = Generator(about="a sample", source="here", make=_sample)


def test_options_are_the_settings_without_seed_and_progress():
    assert options(SAMPLE) == {"size": (int, 3), "share": (float, 0.5), "mode": (str, "fast")}


def test_options_of_a_lazy_entry_come_from_its_function():
    assert options(GENERATORS["boutique"]) == {"broken": (int, 0)}


def test_settings_are_read_in_their_types():
    read = read_settings("sample", SAMPLE, {"size": "12", "share": "1", "mode": "slow"})
    assert read == {"size": 12, "share": 1.0, "mode": "slow"}
    assert isinstance(read["share"], float)


def test_all_bad_settings_are_named_with_value_and_expectation():
    with pytest.raises(UsageError) as raised:
        read_settings("sample", SAMPLE, {"siez": "4", "size": "many", "share": "inf"})
    message = str(raised.value)
    assert "no setting 'siez' (4); expected one of size, share, mode" in message
    assert "setting 'size' is 'many'; expected a whole number, such as 3" in message
    assert "setting 'share' is 'inf'; expected a number" in message


def test_the_seed_is_not_a_setting():
    with pytest.raises(UsageError, match="no setting 'seed'"):
        read_settings("sample", SAMPLE, {"seed": "1"})


def test_listing_the_registry_imports_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'numba'} & set(sys.modules)"
    code = f"import sys; from bayplan.generate import GENERATORS; print({heavy} or len(GENERATORS))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(len(GENERATORS))
