"""Options that several commands share, as one value: a command takes the group, and its help shows the options of it."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


class OptionGroup:
    """A frozen dataclass whose fields are options of every command that takes it; each has a default."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of its groups in the place of these, as the parser wants to see it."""
    stated = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in stated.items() if isinstance(kind, type) and issubclass(kind, OptionGroup)}
    if not groups:
        return command
    parameters = []
    for name, parameter in signature(command).parameters.items():
        parameters += _options(groups[name]) if name in groups else [parameter.replace(annotation=stated[name])]

    @wraps(command)
    def call(**given: Any) -> None:
        values = {name: kind(**{each.name: given.pop(each.name) for each in fields(kind)}) for name, kind in groups.items()}  # type: ignore[arg-type]
        command(**given, **values)

    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _options(group: type[OptionGroup]) -> list[Parameter]:
    stated = get_type_hints(group, include_extras=True)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return [Parameter(each.name, kind, default=each.default, annotation=stated[each.name]) for each in fields(group)]  # type: ignore[arg-type]
