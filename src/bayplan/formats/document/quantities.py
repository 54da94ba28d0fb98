"""Columns of amounts as people write them -> int64 base units, exactly; quick for a million whole numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bayplan.errors import Fault
from bayplan.formats.document.location import shown
from bayplan.formats.document.partial_document import PartialDocument
from bayplan.formats.document.shape import OCTAL
from bayplan.model import IntArray, Resource, ints
from bayplan.model.quantities import LARGEST, parse_quantity, quantity_hint, to_base_units


def read_resources(document: Mapping[str, Any]) -> tuple[Resource, ...]:
    """The `resources` of a document of the right shape."""
    return tuple(Resource(name=name, **fields) for name, fields in document["resources"].items())


def resources_document(resources: Sequence[Resource]) -> dict[str, Any]:
    """The `resources` of a document, without what is left at its default."""
    return {r.name: {**({"scale": r.scale} if r.scale != 1 else {}), **({"unit": r.unit} if r.unit else {})} for r in resources}


@dataclass(slots=True)
class Quantities:
    """Reads the amounts of one document and gathers what is wrong with them."""

    resources: tuple[Resource, ...]
    base_units: bool
    all_resources: bool = True  # are there no others that were left out?
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def of(cls, part: PartialDocument) -> "Quantities":
        """For the amounts of a document of the right shape."""
        resources, base_units = read_resources(part.document), part.document.get("amounts") == "base-units"
        return cls(resources, base_units, all_resources=not part.lacks("resources"))

    def table(self, columns: Mapping[str, Sequence[Any]], rows: int, kind: str, name: str = "") -> IntArray:
        """(row, resource) base units; 0 where a resource has no column."""
        known = {resource.name: r for r, resource in enumerate(self.resources)}
        amount = np.zeros((rows, len(known)), dtype=np.int64)
        for column, values in columns.items():
            if column not in known:
                if self.all_resources:
                    self._fault("E1504", kind, name, f"amount of '{column}', which is not declared", column, ", ".join(known))
            elif len(values) != rows:
                self._fault("E1502", kind, name, f"column {column} has the wrong length", str(len(values)), f"{rows} entries")
            else:
                amount[:, known[column]] = self._column(values, self.resources[known[column]], kind, name)
        return ints(amount)

    def row(self, amounts: Mapping[str, Any], kind: str, name: str = "") -> IntArray:
        """(resource,) base units."""
        return ints(self.table({column: [value] for column, value in amounts.items()}, 1, kind, name)[0])

    def _column(self, values: Sequence[Any], resource: Resource, kind: str, name: str) -> IntArray:
        scale = 1 if self.base_units else resource.scale
        if set(map(type, values)) <= {int} and max(values, default=0) * scale <= LARGEST:
            return np.array(values, dtype=np.int64) * scale
        return ints([self._one(value, scale, resource, kind, name) for value in values])

    def _one(self, value: Any, scale: int, resource: Resource, kind: str, name: str) -> int:
        try:
            if isinstance(value, str) and OCTAL.match(value):
                raise ValueError("it has a leading zero")
            exact = parse_quantity(value) if isinstance(value, str) else Fraction(repr(value))
            amount = to_base_units(exact, scale)
            if amount < 0:
                raise ValueError("negative")
        except ValueError as error:
            problem = f"{resource.name}: not an amount that can be held, {str(error).split(':')[0]}"
            expected = f"zero to 2^63 - 1 whole base units, 1/{scale} each" + quantity_hint(str(value))
            self._fault("E1505", kind, name, problem, shown(value), expected)
            return 0
        return amount

    def _fault(self, code: str, kind: str, name: str, problem: str, value: str, expected: str) -> None:
        self.faults.append(Fault(code=code, kind=kind, name=name, problem=problem, value=value, expected=expected))
