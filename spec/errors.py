# SPDX-License-Identifier: BSD-2-Clause
"""Typed errors: the field, the rule it broke, and its value."""


def one_line(text: str) -> str:
    """Text with what no line shows, such as a newline in a name, as Python escapes it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class InputError(ValueError):
    """Input that a block refuses: ``field`` must obey ``rule``, and is ``value``."""

    def __init__(self, field: str, rule: str, value: object) -> None:
        super().__init__(one_line(f"{field} must {rule}, not {value}"))
        self.field = field
        self.rule = rule
        self.value = value


class MeshError(InputError):
    """A mesh that cannot be drawn."""


class InputWarning(UserWarning):
    """Input that breaks a rule without harm: it is read as the text says."""


class Stalled(Exception):
    """What was asked for must wait until something else has been given back.

    Nothing has changed.
    """
