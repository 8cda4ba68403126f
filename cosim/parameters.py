# SPDX-License-Identifier: BSD-2-Clause
"""Parameters of a block by words: those of a configuration, some of them changed."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from fixfunc.spec.errors import InputError

WORDS = {"true": True, "false": False}


def settable(params: Any) -> dict[str, bool | int | str]:
    """Parameters that a word can say, with their values; others are those of parts, or lists."""
    values = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    return {name: value for name, value in values.items() if type(value) in (bool, int, str)}


def changed(params: Any, changes: Sequence[str], stem: str) -> Any:
    """The parameters of a block with others in the place of some.

    Parameters
    ----------
    params : dataclass
    changes : list of str
        ``name=value`` each: a number, ``true`` or ``false``, or a word, as what is there.
    stem : str
        The block's name.

    Raises
    ------
    InputError
        There is no such parameter, it is none that a word can say, or the block's rules forbid
        the value.
    """
    present = settable(params)
    values = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if name not in present or not equals:
            rule = f"be name=value of {', '.join(present)}"
            raise InputError(f"parameter of {stem}", rule, change)
        values[name] = value_of(name, text, type(present[name]))
    try:
        return dataclasses.replace(params, **values)
    except ValueError as error:
        said = f"{', '.join(changes)}: {error}"
        raise InputError(f"parameters of {stem}", "be ones that it has", said) from None


def value_of(name: str, text: str, kind: type) -> bool | int | str:
    """A value as what is there; else :class:`~fixfunc.spec.errors.InputError`."""
    if kind is bool and text not in WORDS:
        raise InputError(name, "be true or false", text)
    if kind is int and not text.removeprefix("-").isdecimal():
        raise InputError(name, "be an integer", text)
    return WORDS[text] if kind is bool else kind(text)
