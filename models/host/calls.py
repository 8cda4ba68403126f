# SPDX-License-Identifier: BSD-2-Clause
"""Errors of calls: which call broke a rule, beside field, rule and value."""

import functools
from collections.abc import Callable
from typing import TypeVar

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
    """A class whose public methods name themselves where they raise an ``InputError``.

    Of calls within calls the outer one is named, which is the caller's.
    """
    for name, method in list(vars(kind).items()):
        if callable(method) and (name == "__init__" or not name.startswith("_")):
            call = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
            setattr(kind, name, _named(call, method))
    return kind


def _named(call: str, method: Callable) -> Callable:
    @functools.wraps(method)
    def named(*arguments, **more):
        try:
            return method(*arguments, **more)
        except InputError as error:
            raise CallError(call, error) from error

    return named
