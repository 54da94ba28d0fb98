"""Where two values of the model differ, by value: arrays do not compare as wholes."""

import dataclasses

import numpy as np


def differences(a: object, b: object, at: str = "") -> list[str]:
    """Where two model values differ; arrays by value and type."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return [] if a.dtype == b.dtype and a.shape == b.shape and (a == b).all() else [f"{at}: {a} and {b}"]
    if dataclasses.is_dataclass(a) and type(a) is type(b):
        fields = [field.name for field in dataclasses.fields(a)]
        return [d for name in fields for d in differences(getattr(a, name), getattr(b, name), f"{at}.{name}")]
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return [d for key in a for d in differences(a[key], b[key], f"{at}[{key}]")]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return [d for i, pair in enumerate(zip(a, b, strict=True)) for d in differences(*pair, f"{at}[{i}]")]
    return [] if type(a) is type(b) and a == b else [f"{at}: {a!r} and {b!r}"]
