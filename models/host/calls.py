# SPDX-License-Identifier: BSD-2-Clause
"""Errors of calls: which call broke a rule, beside field, rule and value; types of arguments."""

import functools
import inspect
import types
from collections.abc import Callable
from enum import IntEnum
from numbers import Real
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from fixfunc.models.host.memory import Heap
from fixfunc.spec.errors import InputError

Kind = TypeVar("Kind", bound=type)
MOST_NAMES = 10  # of an enumeration that an error lists


class CallError(InputError):
    """A call that breaks a rule; nothing has happened.

    Attributes
    ----------
    call : str
        Such as ``Context.draw``.
    """

    def __init__(self, call: str, error: InputError) -> None:
        super().__init__(error.field, error.rule, error.value)
        self.call = call

    def __str__(self) -> str:
        return f"{self.call}: {super().__str__()}"


def names_calls(kind: Kind) -> Kind:
    """A class whose public methods name themselves where they raise an ``InputError``.

    Of calls within calls the outer one is named, which is the caller's. Arguments that are not as
    they are annotated raise one too, as do resources that are released or another device's.
    """
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            call = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
            setattr(kind, name, _named(call, method))
    return kind


def _named(call: str, method: Callable) -> Callable:
    signature = inspect.signature(method)
    hints = functools.cache(lambda: get_type_hints(method))

    @functools.wraps(method)
    def named(*arguments, **more):
        try:
            given = signature.bind(*arguments, **more).arguments
            heap = getattr(given["self"], "heap", None)
            for name, value in given.items():
                if name in hints() and name != "part":
                    check_type(name, value, hints()[name])
                    _check_held(name, value, heap)
            return method(*arguments, **more)
        except InputError as error:
            raise CallError(call, error) from error

    return named


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
        return [_found(one) for one in value]
    return value if isinstance(value, str | int | float) else type(value).__name__


def _fits(value, hint):
    if hint in (Any, object):
        return True
    if hint is float:
        return isinstance(value, Real | np.number)
    if hint in (int, bool):
        return isinstance(value, np.bool_) or hasattr(value, "__index__")
    arguments = get_args(hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is None:
        return isinstance(value, hint)
    if origin.__name__ == "Callable":
        return callable(value)
    if isinstance(value, str) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        return False
    if origin is tuple and arguments[-1] is not Ellipsis:
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    return all(_fits(one, arguments[0]) for one in value)


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
    if origin is tuple and arguments[-1] is not Ellipsis:
        return f"{len(arguments)} values, each {_text(arguments[0])}"
    return f"a sequence, each {_text(arguments[0])}"


def _check_held(name, value, heap):
    """Resources of a call exist, on this device."""
    for one in value if isinstance(value, list | tuple) else (value,):
        check_held(name, one, heap)


def check_held(name: str, value: object, heap: Heap | None) -> None:
    """Raise ``InputError`` for a resource, or a view of one, that is released or elsewhere."""
    held = getattr(value, "resource", value)
    if not isinstance(getattr(held, "heap", None), Heap):
        return
    if held.released:
        raise InputError(name, "not be released", type(held).__name__)
    if heap is not None and held.heap is not heap:
        raise InputError(name, "be of the same device", type(held).__name__)
