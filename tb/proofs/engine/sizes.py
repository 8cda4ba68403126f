# SPDX-License-Identifier: BSD-2-Clause
"""Smaller hardware: constants of a module, others while a component of it is made."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from fixfunc.spec.errors import InputError


@contextmanager
def sizes(module: ModuleType, **constants: object) -> Iterator[None]:
    """Give constants of a module other values until the block ends.

    Raises
    ------
    InputError
        The module has no constant of a name.
    """
    names = vars(module)
    for name in constants:
        if name not in names:
            raise InputError("constant", f"be one of {module.__name__}", name)
    before = {name: names[name] for name in constants}
    names.update(constants)
    try:
        yield
    finally:
        names.update(before)
