# SPDX-License-Identifier: BSD-2-Clause
"""Rows of configurations, and of each with one parameter changed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fixfunc.cosim import parameters
from fixfunc.cosim.explore.subject import Numbers, Subject, configuration
from fixfunc.cosim.progress import Bar
from fixfunc.spec.errors import InputError

MOST = 1 << 10  # evaluations: a frame takes up to half a second


class Row(NamedTuple):
    """A configuration, maybe with a parameter changed, and what comes of it."""

    configuration: str
    parameter: str  # "": as it is
    value: str
    numbers: Numbers


class Explored(NamedTuple):
    """What has been explored.

    Parameters
    ----------
    rows : list of Row
        Configurations as they are.
    changed : list of Row
        By parameter, in the order of its values, then by configuration.
    present : dict
        Parameters of each configuration by name, as words.
    """

    rows: list[Row]
    changed: list[Row]
    present: dict[str, dict[str, str]]


def parsed(over: Sequence[str]) -> dict[str, list[str]]:
    """Values of parameters, ``name=value,value`` each.

    Raises
    ------
    InputError
        Text of another kind, or a parameter twice.
    """
    found = {}
    for text in over:
        name, equals, values = text.partition("=")
        if not equals or not name or name in found or "" in values.split(","):
            raise InputError("over", "be name=value,value, each name once", text)
        found[name] = list(dict.fromkeys(values.split(",")))
    return found


def run(subject: Subject, words: Sequence[str], over: dict[str, list[str]]) -> Explored:
    """Evaluate configurations, then each with one parameter changed.

    Parameters
    ----------
    subject : Subject
    words : sequence of str
        Names of configurations, or files; none: all named ones.
    over : dict of str to list of str
        Values by parameter; none: those that the subject holds worth changing.

    Raises
    ------
    InputError
        A configuration or a parameter that there is not, a value that it does not take; more than
        1,024 evaluations.
    """
    found = [configuration(subject, word) for word in (words or subject.configurations)]
    chosen = dict(found)
    if len(chosen) < len(found):
        raise InputError("configurations", "have different names", " ".join(words))
    count = len(chosen) * (1 + sum(map(len, (over or subject.what_if).values())))
    if count > MOST:
        raise InputError("configurations and values", f"make at most {MOST} rows", count)
    points = [
        (name, parameter, value, parameters.changed(params, [f"{parameter}={value}"], name))
        for parameter, values in (over or subject.what_if).items()
        for value in values
        for name, params in chosen.items()
    ]
    points = [(name, "", "", params) for name, params in chosen.items()] + points
    rows = []
    known: dict[Any, Numbers] = {}
    with Bar(f"evaluating {subject.title}", len(points)) as bar:
        for name, parameter, value, params in points:
            if params not in known:
                known[params] = subject.evaluate(params)
            rows.append(Row(name, parameter, value, known[params]))
            bar.advance(f"{name} {parameter} {value}")
    present = {
        name: {key: str(value) for key, value in parameters.settable(params).items()}
        for name, params in chosen.items()
    }
    return Explored(rows[: len(chosen)], rows[len(chosen) :], present)
