# SPDX-License-Identifier: BSD-2-Clause
"""Objects of a file's JSON: whatever is asked of them is checked, and named where it is wrong."""

import math
from collections.abc import Sequence
from typing import Any

from fixfunc.spec.errors import MeshError

_KINDS = {dict: "be an object", list: "be a list", str: "be a text"}


class Item:
    """An object of a glTF file.

    Parameters
    ----------
    file : str
        Its name, for errors.
    place : str
        Where the object lies in it, such as ``nodes[3]``; of the whole file empty.
    fields : object
        What JSON has there.

    Every method raises :class:`~fixfunc.spec.errors.MeshError` with file, field, rule and value.
    """

    def __init__(self, file: str, place: str, fields: Any) -> None:
        self.file = file
        self.place = place
        if not isinstance(fields, dict):
            raise MeshError(f"{file}: {place or 'JSON'}", "be an object", type(fields).__name__)
        self.fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    @property
    def label(self) -> str:
        """Place and name, for people."""
        name = self.fields.get("name")
        return f"{self.place} {name!r:.60}" if isinstance(name, str) and name else self.place

    def refusal(self, name: str, rule: str, value: object) -> MeshError:
        """An error of a field; values are cut to a line."""
        place = ".".join(filter(None, (self.place, name)))
        return MeshError(f"{self.file}: {place}", rule, f"{value!s:.80}")

    def _get(self, name, kind, default):
        value = self.fields.get(name, default)
        if not isinstance(value, kind):
            raise self.refusal(name, _KINDS[kind], type(value).__name__)
        return value

    def text(self, name: str, default: str = "", choices: Sequence[str] = ()) -> str:
        """A text, one of ``choices`` if there are any."""
        value = self._get(name, str, default)
        if choices and value not in choices:
            raise self.refusal(name, f"be one of {', '.join(choices)}", value)
        return value

    def flag(self, name: str) -> bool:
        """True or false, which is the default."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise self.refusal(name, "be true or false", value)
        return value

    def integer(self, name: str, default: int | None, least: int = 0, most: int = 1 << 40) -> int:
        """A whole number of a range; without a default it must be there."""
        return self._whole(name, self.fields.get(name, default), least, most)

    def _whole(self, name, value, least, most):
        # JSON has no integers: exporters write 4.0, too.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refusal(name, f"be a whole number in {least}..{most}", value)
        return value

    def number(self, name: str, default: float | None) -> float:
        """A finite number; without a default it must be there."""
        return self._finite(name, self.fields.get(name, default))

    def _finite(self, name, value):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not abs(value) <= 3.4e38 or not math.isfinite(value):
            raise self.refusal(name, "be a finite number", value)
        return float(value)

    def numbers(self, name: str, default: Sequence[float]) -> tuple[float, ...]:
        """Finite numbers, as many as the default has."""
        values = self._get(name, list, list(default))
        if len(values) != len(default):
            raise self.refusal(name, f"hold {len(default)} numbers", len(values))
        return tuple(self._finite(name, value) for value in values)

    def item(self, name: str) -> "Item | None":
        """An object within this one; None, if it is not there."""
        if name not in self.fields:
            return None
        return Item(self.file, ".".join(filter(None, (self.place, name))), self.fields[name])

    def within(self, *names: str) -> "Item":
        """The object that is found by names one after the other; empty where one lacks."""
        found = self
        for name in names:
            found = found.item(name) or Item(self.file, f"{found.place}.{name}", {})
        return found

    def items(self, name: str) -> list["Item"]:
        """Objects of a list; none, if it is not there."""
        place = ".".join(filter(None, (self.place, name)))
        values = self._get(name, list, [])
        return [Item(self.file, f"{place}[{n}]", value) for n, value in enumerate(values)]

    def indices(self, name: str, count: int) -> list[int]:
        """Whole numbers of a list, each below ``count``."""
        return [self._whole(name, value, 0, count - 1) for value in self._get(name, list, [])]

    def texts(self, name: str) -> list[str]:
        """Texts of a list."""
        values = self._get(name, list, [])
        if not all(isinstance(value, str) for value in values):
            raise self.refusal(name, "hold texts", values)
        return values
