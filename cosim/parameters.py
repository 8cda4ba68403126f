# SPDX-License-Identifier: BSD-2-Clause
"""Parameters of a block by words: those of a configuration, some of them changed.

Numbers stand as they are, flags as ``true`` and ``false``, members of an encoding by their names,
several of them, or several integers, joined by ``+``; parameters of a part follow its name and a
dot, and a part that may be left out is ``present`` or ``none``.
"""

import dataclasses
import enum
import re
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from fixfunc.spec.errors import InputError

WORDS = {"true": True, "false": False}
JOINT = "+"  # between the members of a list; changes are parted by commas
NONE = "none"  # of encodings of which there may be none
NUMBER = r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e-?[0-9]{1,2})?"
MOST_NAMED = 16  # members of an encoding that are told one by one


def settable(params: Any) -> dict[str, bool | int | str]:
    """Every parameter by name, those of parts with a dot, each as a word says it."""
    return {name: _word(value) for name, value, _ in _flat(params)}


def takes(params: Any) -> dict[str, str]:
    """What each parameter may be, in words."""
    return {name: _takes(value, hint) for name, value, hint in _flat(params)}


def changed(params: Any, changes: Sequence[str], stem: str) -> Any:
    """The parameters of a block with others in the place of some.

    Parameters
    ----------
    params : dataclass
    changes : list of str
        ``name=value`` each, as the module says; a word for what is a word.
    stem : str
        The block's name.

    Raises
    ------
    InputError
        There is no such parameter, it does not take the value, or the block's rules forbid it.
    """
    present = {name: (value, hint) for name, value, hint in _flat(params)}
    values = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if name not in present or not equals:
            rule = f"be name=value of {', '.join(present)}"
            raise InputError(f"parameter of {stem}", rule, change)
        values[name] = _parsed(name, text, *present[name])
    try:
        return _replaced(params, values)
    except ValueError as error:
        said = f"{', '.join(changes)}: {error}"
        raise InputError(f"parameters of {stem}", "be ones that it has", said) from None


def value_of(name: str, text: str, kind: type) -> bool | int | str:
    """A value as what is there; else :class:`~fixfunc.spec.errors.InputError`."""
    if kind is bool and text not in WORDS:
        raise InputError(name, "be true or false", text)
    if kind is int and not re.fullmatch("-?[0-9]{1,18}", text):
        raise InputError(name, "be an integer", text)
    if kind is float and not re.fullmatch(NUMBER, text):
        raise InputError(name, "be a number", text)
    return WORDS[text] if kind is bool else kind(text)


def _flat(params: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Name, value and annotation of each parameter."""
    hints = typing.get_type_hints(type(params))
    for field in dataclasses.fields(params):
        value = getattr(params, field.name)
        name = prefix + field.name
        hint = hints[field.name]
        if type(None) in typing.get_args(hint):
            yield name, _Part(value), hint
        elif not dataclasses.is_dataclass(value):
            yield name, value, hint
        if dataclasses.is_dataclass(value):
            yield from _flat(value, f"{name}.")


@dataclasses.dataclass(frozen=True)
class _Part:
    """A part that may be left out."""

    params: Any

    def __str__(self) -> str:
        return "none" if self.params is None else "present"


def _word(value: Any) -> bool | int | str:
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, tuple):
        return JOINT.join(getattr(member, "name", str(member)) for member in value) or NONE
    return str(value) if isinstance(value, _Part) else value


def _takes(value: Any, hint: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"one of {_members(type(value))}"
    if _is_of_numbers(value):
        return f"{len(value)} integers, joined by {JOINT}"
    if isinstance(value, tuple):
        return f"some of {_members(_encoding(value, hint))}, joined by {JOINT}"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, _Part):
        return "present or none"
    if isinstance(value, str):
        return f"one of {', '.join(typing.get_args(hint))}"
    return "true or false" if isinstance(value, bool) else "an integer"


def _encoding(value: tuple, hint: Any) -> type[enum.Enum]:
    """Of the members of a tuple, which may have none."""
    return type(value[0]) if value else typing.get_args(hint)[0]


def _is_of_numbers(value: Any) -> bool:
    """A tuple of numbers, not of members of an encoding."""
    return isinstance(value, tuple) and bool(value) and not isinstance(value[0], enum.Enum)


def _members(encoding: type[enum.Enum]) -> str:
    """An encoding's members, or where they are written down."""
    names = encoding.__members__
    place = f"{encoding.__module__}.{encoding.__name__}"
    return ", ".join(names) if len(names) <= MOST_NAMED else place


def _parsed(name: str, text: str, value: Any, hint: Any) -> Any:
    """A value by a word, of the kind of the one that is there."""
    if isinstance(value, _Part):
        if text not in ("present", "none"):
            raise InputError(name, "be present or none", text)
        return None if text == "none" else value.params or typing.get_args(hint)[0]()
    if not isinstance(value, (enum.Enum, tuple)):
        return value_of(name, text, type(value))
    several = isinstance(value, tuple)
    if _is_of_numbers(value):
        words = text.split(JOINT)
        if len(words) != len(value):
            raise InputError(name, f"be {_takes(value, hint)}", text)
        return tuple(value_of(name, word, int) for word in words)
    members = (_encoding(value, hint) if several else type(value)).__members__
    words = text.split(JOINT) if several else [text]
    if several and text == NONE:
        return ()
    if not set(words) <= set(members) or len(set(words)) < len(words):
        raise InputError(name, f"be {_takes(value, hint)}", text)
    found = tuple(members[word] for word in words)
    return found if several else found[0]


def _replaced(params: Any, values: dict[str, Any]) -> Any:
    """Parameters with others by their dotted names; every part once, so that rules see all."""
    own = {name: value for name, value in values.items() if "." not in name}
    for part in dict.fromkeys(name.partition(".")[0] for name in values if "." in name):
        inner = {
            name.removeprefix(f"{part}."): value
            for name, value in values.items()
            if name.startswith(f"{part}.")
        }
        present = own.get(part, getattr(params, part))
        if present is None:
            raise InputError(part, f"be present for {part}.{next(iter(inner))}", "none")
        own[part] = _replaced(present, inner)
    return dataclasses.replace(params, **own)
