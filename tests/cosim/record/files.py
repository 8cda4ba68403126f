# SPDX-License-Identifier: BSD-2-Clause
"""Files of recorded frames: written, and with a number that is wrong."""

from dataclasses import replace

import pytest

from fixfunc.cosim.recorded import file
from fixfunc.spec.errors import InputError


def saved(tmp_path, frame):
    """The path of a frame's file."""
    path = tmp_path / "some.npz"
    path.write_bytes(file.write(frame))
    return path


def check_named(tmp_path, frame, place, value, rule):
    """A field of an array's first row with another value is refused by its name and rule."""
    array, field = place
    rows = getattr(frame, array).copy()
    rows[field][0] = value
    with pytest.raises(InputError) as caught:
        file.read(saved(tmp_path, replace(frame, **{array: rows})))
    assert caught.value.field.startswith(f"some.npz: {array}[0].")
    assert rule in caught.value.rule


def check_fields(arrays, wrong, free):
    """Every field has a value that is wrong, or is one of those that may have any."""
    for array, kind in arrays.items():
        for field in kind.names or ():
            assert (array, field) in wrong or field in free, (array, field)
