# SPDX-License-Identifier: BSD-2-Clause
"""Values as annotations say that they are: fields of records, arguments of calls."""

import operator
import types
from collections.abc import Mapping
from enum import IntEnum
from numbers import Real
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from fixfunc.spec.errors import InputError

MOST_NAMES = 10  # of an enumeration that an error lists


def check_types(record: object) -> None:
    """Raise ``InputError`` for a field of a dataclass that is not as it is annotated."""
    for name, hint in get_type_hints(type(record)).items():
        check_type(name, getattr(record, name), hint)


def check_type(name: str, value: object, hint: object) -> None:
    """Raise ``InputError`` for a value that is not as an annotation says."""
    if not _fits(value, hint):
        raise InputError(name, f"be {_text(hint)}", _found(value))


def _found(value):
    """A value that does not fit, or its type."""
    if isinstance(value, list | tuple):
        return [_found(item) for item in value]
    return value if isinstance(value, str | int | float) else type(value).__name__


def _fits(value, hint):
    if hint in (Any, object):
        return True
    if hint is float:
        return isinstance(value, Real | np.number) and _has_float(value)
    if hint in (int, bool):
        return isinstance(value, np.bool_) or _has_index(value)
    arguments = get_args(hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, choice) for choice in arguments)
    if origin is None:
        return isinstance(value, hint)
    if origin.__name__ == "Callable":
        return callable(value)
    if isinstance(value, str) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        return False
    if origin is Mapping and not isinstance(value, Mapping):
        return False
    if origin is tuple and arguments[-1] is not Ellipsis:
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    return all(_fits(item, arguments[0]) for item in value)


def _has_index(value):
    """Whether a value is an integer: of an array one says so by trying."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _has_float(value):
    """Whether a number is within float64: an integer may not be."""
    try:
        float(value)
    except (OverflowError, TypeError):  # a complex number, too
        return False
    return True


def _text(hint):
    """An annotation in words."""
    arguments = get_args(hint)
    origin = get_origin(hint)
    if hint is int:
        return "an integer"
    if hint is float:
        return "a number"
    if hint is types.NoneType:
        return "None"
    if origin in (Union, types.UnionType):
        return " or ".join(map(_text, arguments))
    if origin is None:
        if issubclass(hint, IntEnum) and len(hint) <= MOST_NAMES:
            return f"one of {hint.__name__}: {', '.join(member.name for member in hint)}"
        return f"a {hint.__name__}"
    if origin.__name__ == "Callable":
        return "callable"
    if origin is Mapping:
        return f"a mapping of {_text(arguments[0])}"
    if origin is tuple and arguments[-1] is not Ellipsis:
        return f"{len(arguments)} values, each {_text(arguments[0])}"
    return f"a sequence, each {_text(arguments[0])}"
