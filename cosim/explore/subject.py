# SPDX-License-Identifier: BSD-2-Clause
"""What can be explored: configurations, the numbers of each, and what is worth changing."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fixfunc.cosim import parameters
from fixfunc.cosim.figures.bound import Term
from fixfunc.spec.errors import InputError

MOST_BYTES = 1 << 20  # of a configuration's file


class Numbers(NamedTuple):
    """What comes of a configuration.

    Parameters
    ----------
    values : dict
        By column, int, float or str.
    terms : list of Term
        What takes so much each, and bounds the whole.
    roof : int or None
        What the whole takes.
    """

    values: dict[str, int | float | str]
    terms: list[Term]
    roof: int | None


class Subject(NamedTuple):
    """What is explored.

    Parameters
    ----------
    title : str
    columns : dict of str to str
        Of numbers, by name: their words.
    measure : str
        The column that charts show.
    unit : str
        Of terms.
    configurations : mapping of str to dataclass
        By name; the first is the default.
    evaluate : callable
        Numbers of a configuration.
    what_if : dict of str to list of str
        Parameters, and values of each, if none are asked for.
    """

    title: str
    columns: dict[str, str]
    measure: str
    unit: str
    configurations: Mapping[str, Any]
    evaluate: Callable[[Any], Numbers]
    what_if: dict[str, list[str]]


def configuration(subject: Subject, word: str) -> tuple[str, Any]:
    """A configuration by its name, or of a JSON file; and what it is called.

    A file has an object: parameters by name, those of parts with a dot, in the place of those of
    ``base``, a name, by default the first one.

    Raises
    ------
    InputError
        Neither a name nor such a file; a parameter that there is not, or that breaks a rule.
    """
    if not word.endswith(".json"):
        if word not in subject.configurations:
            known = ", ".join(subject.configurations)
            raise InputError("configuration", f"be one of {known}, or a file .json", word)
        return word, subject.configurations[word]
    found = _object(Path(word))
    base = found.pop("base", next(iter(subject.configurations)))
    if base not in subject.configurations:
        rule = f"be one of {', '.join(subject.configurations)}"
        raise InputError(f"base of {word}", rule, base)
    changes = [f"{name}={_text(word, name, value)}" for name, value in found.items()]
    name = Path(word).stem
    return name, parameters.changed(subject.configurations[base], changes, name)


def _object(path):
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError("configuration", "be a file that can be read", path) from error
    if len(data) > MOST_BYTES:
        raise InputError("configuration", f"have at most {MOST_BYTES} bytes", path)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError("configuration", "be JSON", path) from None
    if not isinstance(found, dict):
        raise InputError("configuration", "be an object of JSON", path)
    return found


def _text(word, name, value):
    """A value as a word of a command line."""
    if isinstance(value, list):
        return parameters.JOINT.join(str(one) for one in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return str(value)
    raise InputError(f"{name} of {word}", "be a number, a word, or a list of numbers", value)
