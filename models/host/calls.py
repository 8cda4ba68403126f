# SPDX-License-Identifier: BSD-2-Clause
"""Errors of calls: which call broke a rule, beside field, rule and value; types of arguments."""

import functools
import inspect
from collections.abc import Callable
from typing import TypeVar, get_type_hints

from fixfunc.models.annotations import check_type
from fixfunc.models.host.memory import Heap
from fixfunc.spec.errors import InputError

Kind = TypeVar("Kind", bound=type)


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
    """A class whose public methods, inherited ones too, name themselves in an ``InputError``.

    Of calls within calls the outer one is named, which is the caller's. Arguments that are not as
    they are annotated raise one too, as do resources that are released or another device's.
    """
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name == "__init__" or not name.startswith("_"):
            call = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
            setattr(kind, name, _named(call, method))
    return kind


def check_arguments(method: Callable, given: dict[str, object]) -> None:
    """Raise ``InputError`` for arguments by name that a method lacks, or of another type.

    Those without a default are not among them: the caller gives them.
    """
    hints = get_type_hints(method)
    parameters = inspect.signature(method).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.default is not parameter.empty]
    for name, value in given.items():
        if name not in names:
            raise InputError("argument", f"be one of {', '.join(names)}", name)
        check_type(name, value, hints[name])


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


def _check_held(name, value, heap):
    """Resources of a call exist, on this device."""
    for item in value if isinstance(value, list | tuple) else (value,):
        check_held(name, item, heap)


def check_held(name: str, value: object, heap: Heap | None) -> None:
    """Raise ``InputError`` for a resource, or a view of one, that is released or elsewhere."""
    held = getattr(value, "resource", value)
    if not isinstance(getattr(held, "heap", None), Heap):
        return
    if held.released:
        raise InputError(name, "not be released", type(held).__name__)
    if heap is not None and held.heap is not heap:
        raise InputError(name, "be of the same device", type(held).__name__)
