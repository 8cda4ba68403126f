# SPDX-License-Identifier: BSD-2-Clause
"""Each component of a design is generated once: as a module of its own, kept by what decides it.

A component is elaborated where its hardware is not known yet. Wherever it stands it becomes an
instance of its module, so that 512 equal lanes are elaborated, written and read once, a change
touches the modules of what was changed and of what holds it, and blocks share what they have in
common with the top. Components do not know of it.

A module lies in ``build/units`` under a name that is a hash: see
:mod:`fixfunc.cosim.verilog.identity`. :meth:`Store.assembled` gives it one that people read.
"""

import gc
import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from amaranth.back import rtlil
from amaranth.hdl import (
    ClockSignal,
    Elaboratable,
    EnableInserter,
    Fragment,
    Instance,
    Module,
    ResetSignal,
    Signal,
    Value,
    ValueCastable,
)
from amaranth.hdl._ir import PortDirection
from amaranth.hdl._xfrm import TransformedElaboratable
from amaranth.lib.wiring import Component, In

from fixfunc.cosim import toolchain
from fixfunc.cosim.verilog import identity, yosys

FOLDER = "units"
PREFIX = "unit_"
REFERENCE = re.compile(rf"\b{PREFIX}[0-9a-f]{{16}}\b")
INNER = re.compile(r"(?m)^module \\(\w+(?:\.\w+)+) \(")
DOTTED = re.compile(r"\\([\w.]+) ")
ENABLE = "clock_enable"  # port of what stands in a pipeline that stops as a whole
CLOCK = "clk", "rst"
CLOCKED = re.compile(r"(?m)^  wire width 1 input \d+ +\\clk$")
PROCESSES = 2  # cores of the machines that this is made for
parts: dict[str, int] = {}  # of what is made ahead in this moment: how many are done, of how many


class Unit(NamedTuple):
    """A component as a module of its own.

    Parameters
    ----------
    name : str
        Of its module.
    title : str
        Name of its class, in lower case, for people.
    clocked : bool
        It has ports for clock and reset.
    """

    name: str
    title: str
    clocked: bool


class Store:
    """Units, on disk or about to be.

    Parameters
    ----------
    keep : bool
        Units lie in ``build/units``, and what lies there is taken. Otherwise all are made anew:
        for components whose sources are not what they are made of.
    """

    def __init__(self, keep: bool = True) -> None:
        self._keep = keep
        self._units: dict[str, Unit | None] = {}
        self._netlists: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def unit(self, component: Component, enabled: bool) -> Unit | None:
        """The unit of a component; None: it must be elaborated where it stands.

        With ``enabled`` its registers move in clocks alone in which its port ``clock_enable`` is
        high.
        """
        if not type(component).__module__.startswith(identity.OURS):
            return None
        try:
            digest = identity.digest(component, *(["enabled"] if enabled else []))
        except identity.Unknown:
            return None
        name = PREFIX + digest
        if name not in self._units:
            self._units[name] = self._known(name) or self._make(component, name, enabled)
        return self._units[name]

    def known(self, component: Component) -> bool:
        """Whether a component has a unit that need not be made."""
        try:
            name = PREFIX + identity.digest(component)
        except identity.Unknown:
            return False
        return name in self._units or self._known(name) is not None

    def text(self, name: str) -> str:
        """Verilog of a unit, and of what was elaborated within it."""
        self.write()
        if name not in self._texts:
            self._texts[name] = _path(name).with_suffix(".sv").read_text()
        return self._texts[name]

    def assembled(self, netlist: str, name: str) -> str:
        """Verilog of module ``name`` and of all units below it, named after their classes.

        Names begin with that of the module, so that files of several blocks can stand side by side.
        """
        self._netlists[name] = netlist
        texts = []
        names = {name: name}
        used: Counter[str] = Counter()
        for unit in (waiting := [name]):
            texts.append(self.text(unit))
            for found in REFERENCE.findall(texts[-1]):
                if found not in names:
                    title = f"{name}_{self._title(found)}"
                    used[title] += 1
                    names[found] = f"{title}_{used[title]}" if used[title] > 1 else title
                    waiting.append(found)
        text = REFERENCE.sub(lambda found: names[found[0]], "\n".join(texts))
        # What was elaborated within a unit has a name with dots, which Verilog wants escaped.
        inner = set(INNER.findall(text))
        return DOTTED.sub(
            lambda found: found[1].replace(".", "__") if found[1] in inner else found[0], text
        )

    def _title(self, name):
        return (self._units.get(name) or self._known(name)).title

    def write(self) -> None:
        """Verilog of all netlists that have been added, by Yosys, in one go."""
        if not self._netlists:
            return
        names = list(self._netlists)
        texts = yosys.verilog([self._netlists[name] for name in names])
        self._netlists = {}
        for name, text in zip(names, texts, strict=True):
            self._texts[name] = text
            unit = self._units.get(name)
            if self._keep and unit:
                _write(_path(name).with_suffix(".sv"), text)
                _write(_path(name), json.dumps(unit._asdict()))

    def _known(self, name):
        path = _path(name)
        return Unit(**json.loads(path.read_text())) if self._keep and path.is_file() else None

    def _make(self, component, name, enabled):
        own = ports(component)
        enable = Signal(name=ENABLE) if enabled else None
        fragment = elaborated(component, self, enable)
        if enabled:
            fragment = EnableInserter(enable)(fragment)
            own[ENABLE] = (enable, PortDirection.Input)
        netlist = converted(fragment, own, name)
        if f"module \\{name}\n" not in netlist:  # there is nothing in it
            return None
        self._netlists[name] = netlist
        return Unit(name, _title(type(component).__name__), CLOCKED.search(netlist) is not None)


def elaborated(elaboratable: Elaboratable, store: Store, enable: Value | None = None) -> Fragment:
    """Elaborate, components below as instances of their units.

    Parameters
    ----------
    elaboratable : Elaboratable
    store : Store
    enable : Value, optional
        What stops all of it.
    """
    if isinstance(elaboratable, Fragment):
        return elaboratable
    if isinstance(elaboratable, TransformedElaboratable):
        inner = enable
        for transform in elaboratable._transforms_:
            if not isinstance(transform, EnableInserter) or set(transform.controls) != {"sync"}:
                raise toolchain.ToolError(f"{type(transform).__name__} is not known to units.py")
            control = transform.controls["sync"]
            inner = control if inner is None else control & inner
        fragment = elaborated(elaboratable._elaboratable_, store, inner)
        for transform in elaboratable._transforms_:
            fragment = transform(fragment)
        return fragment
    module = elaboratable if isinstance(elaboratable, Module) else elaboratable.elaborate(None)
    if isinstance(module, Module):
        for name, (child, src_loc) in module._named_submodules.items():
            module._named_submodules[name] = (_placed(child, store, enable), src_loc)
        module._anon_submodules[:] = [
            (_placed(child, store, enable), src_loc) for child, src_loc in module._anon_submodules
        ]
        return Fragment.get(module, None)
    return elaborated(module, store, enable)


def converted(fragment: Fragment, ports: dict, name: str) -> str:
    """A netlist."""
    # it is millions of objects that all stay: looking through them again and again takes half the
    # time
    gc.disable()
    try:
        return rtlil.convert_fragment(fragment, ports, name, emit_src=False)[0]
    finally:
        gc.enable()


def netlist(component: Component, name: str, store: Store) -> str:
    """The netlist of a component, without its units."""
    return converted(elaborated(component, store), ports(component), name)


def ahead(component: Component, store: Store) -> None:
    """Make the units below a component on all cores, as far as they are not known.

    Processes that are forked do it, so that nothing is elaborated twice; what one of them fails at
    is made again, and reported, by whoever asks for it.
    """
    below = [child for child in _components(component) if not store.known(child)]
    while len(below) == 1:
        below = [child for child in _components(below[0]) if not store.known(child)]
    if len(below) < PROCESSES:
        return
    parts.update(done=0, of=len(below))
    waiting, writer = os.pipe()
    os.write(writer, bytes(range(len(below))))
    os.close(writer)
    done, writer = os.pipe()
    children = [_worker(below, waiting, writer) for _ in range(PROCESSES)]
    os.close(writer)
    while os.read(done, 1):
        parts["done"] += 1
    for child in children:
        os.waitpid(child, 0)
    os.close(waiting)
    os.close(done)
    parts.clear()


def _worker(components, waiting, writer):
    """A process that makes one component after the other, by numbers from a pipe."""
    with warnings.catch_warnings():
        # It computes and writes files, and takes no lock that another thread may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    try:
        while number := os.read(waiting, 1):
            store = Store()
            store.unit(components[number[0]], False)
            store.write()
            os.write(writer, number)
    finally:
        os._exit(0)


def _components(component: Component) -> Iterator[Component]:
    """Components that a component holds as submodules, under no condition, those of ours."""
    module = component.elaborate(None)
    if isinstance(module, Module):
        for child, _ in (*module._named_submodules.values(), *module._anon_submodules):
            if isinstance(child, Component) and type(child).__module__.startswith(identity.OURS):
                yield child


def _placed(child, store, enable):
    """A submodule: an instance of its unit, or itself, elaborated."""
    unit = store.unit(child, enable is not None) if isinstance(child, Component) else None
    if unit is None:
        return elaborated(child, store, enable)
    connected = [
        ("i" if way == PortDirection.Input else "o", name, value)
        for name, (value, way) in ports(child).items()
        if len(value)
    ]
    if unit.clocked:
        connected += [("i", "clk", ClockSignal()), ("i", "rst", ResetSignal())]
    if enable is not None:
        connected.append(("i", ENABLE, enable))
    return Instance(unit.name, *connected)


def ports(component: Component) -> dict[str, tuple[Signal, PortDirection]]:
    """A component's ports and their directions, by name, in the order of its signature."""
    found = {}
    for path, member, port in component.signature.flatten(component):
        value = port.as_value() if isinstance(port, ValueCastable) else port
        way = PortDirection.Input if member.flow == In else PortDirection.Output
        if isinstance(value, Signal):  # a stream that is always ready has a constant
            found["__".join(map(str, path))] = (value, way)
    return found


def _title(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _path(name: str) -> Path:
    return toolchain.BUILD / FOLDER / f"{name}.json"


def _write(path, text):
    """A whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)
