# SPDX-License-Identifier: BSD-2-Clause
"""What decides the hardware of a component: its class, and what its constructor kept.

Two components of one identity elaborate to the same hardware, whoever made them.
"""

import enum
import hashlib
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial

from amaranth.hdl import Const, Shape, ShapeCastable
from amaranth.lib import data
from amaranth.lib.wiring import Component, Member, Signature

from fixfunc.cosim.verilog import sources

PLAIN = (type(None), bool, int, float, str, bytes, range)
OURS = __name__.split(".")[0] + "."
AMARANTH = (
    "_MustUse__",
    "_Component__",
)  # attributes of its base classes: where an object was made


class Unknown(Exception):
    """A component keeps something of which nobody can say what it is: a signal, a closure."""


def identity(component: Component) -> tuple[str, frozenset[str]]:
    """What decides a component's hardware, as text, and the modules whose sources do.

    Raises
    ------
    Unknown
        It keeps something that has no name.
    """
    modules: set[str] = set()
    text = _Writer(modules).text(component)
    return text, frozenset(modules)


def digest(component: Component, *more: str) -> str:
    """Hash of a component's identity and of the sources of its hardware.

    Raises :class:`Unknown`, as :func:`identity` does.
    """
    text, modules = identity(component)
    parts = [text, *more, *(_sources(module) for module in sorted(modules))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@cache
def _sources(module: str) -> str:
    return sources.digest(module)


class _Writer:
    """Writes values as text. What is met twice on one way down is a circle, and unknown."""

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules
        self._open: set[int] = set()

    def text(self, value: object) -> str:
        if isinstance(value, enum.Enum):
            return f"{self._name(type(value))}.{value.name}"
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            return self._name(value)
        if id(value) in self._open:
            raise Unknown(f"a circle through {type(value).__name__}")
        self._open.add(id(value))
        try:
            return f"{self._name(type(value))}({', '.join(self._parts(value))})"
        finally:
            self._open.discard(id(value))

    def _name(self, value: object) -> str:
        """Of a class or a function, which must be one that an import finds."""
        name = f"{value.__module__}.{value.__qualname__}"
        if "<" in name:
            raise Unknown(name)
        if name.startswith(OURS):
            self._modules.add(value.__module__)
        return name

    def _parts(self, value: object) -> Iterator[str]:
        match value:
            case partial():
                yield from self._all([value.func, value.args, value.keywords])
            case Mapping():
                yield from (f"{self.text(k)}: {self.text(v)}" for k, v in value.items())
            case list() | tuple():
                yield from self._all(value)
            case set() | frozenset():
                yield from sorted(self._all(value))
            case slice():
                yield from self._all([value.start, value.stop, value.step])
            case Const():
                yield from self._all([value.value, value.shape()])
            case Shape():
                yield f"{value.width}, {value.signed}"
            case data.Layout():
                yield f"{value.size}"
                yield from (f"{name}@{f.offset}: {self.text(f.shape)}" for name, f in value)
            case ShapeCastable():
                yield from self._all(self._kept(value))
            case Member():
                yield self._member(value)
            case Signature():
                members = value.members.items()
                yield from (f"{name}: {self._member(member)}" for name, member in members)
            case Component():
                yield from self._component(value)
            case _ if is_dataclass(value):
                yield from self._all(getattr(value, field.name) for field in fields(value))
            case _ if type(value).__module__.startswith(OURS):
                yield from self._all(self._kept(value))
            case _:
                raise Unknown(type(value).__qualname__)

    def _all(self, values) -> list[str]:
        return [self.text(value) for value in values]

    def _kept(self, value):
        """Names and values of attributes."""
        if not hasattr(value, "__dict__"):
            raise Unknown(type(value).__qualname__)
        return sorted(vars(value).items())

    def _member(self, member):
        """Direction, shape, number and value after reset of a port."""
        what = member.signature if member.is_signature else member.shape
        init = "" if member.is_signature else repr(member.init)
        return f"{member.flow.name} {self.text(what)} {member.dimensions} {init}"

    def _component(self, value):
        """Ports, and what the constructor kept besides."""
        yield self.text(value.signature)
        ports = set(value.signature.members)
        for name, kept in self._kept(value):
            if name not in ports and not name.startswith(AMARANTH):
                yield f"{name}: {self.text(kept)}"
