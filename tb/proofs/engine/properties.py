# SPDX-License-Identifier: BSD-2-Clause
"""Properties of hardware: components among free inputs; what is assumed, asserted and reached."""

from amaranth.asserts import AnyConst
from amaranth.back import rtlil
from amaranth.hdl import (
    Assert,
    Assume,
    ClockDomain,
    Cover,
    Elaboratable,
    Fragment,
    Module,
    ShapeLike,
    Signal,
    Value,
    ValueLike,
)
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.utils import ceil_log2

from fixfunc.spec.errors import InputError
from fixfunc.tb.mutation.nodes import MemoryFragment


class Properties:
    """A module of a proof. Time begins behind a reset; memories then hold anything.

    Every input of a component that :attr:`m` does not drive has another value in every clock.

    Attributes
    ----------
    m : Module
        Registers and wires of the proof, in domain ``sync``.
    """

    def __init__(self) -> None:
        self.m = Module()
        self.m.domains.sync = domain = ClockDomain(reset_less=True)
        self.asserted: dict[str, Signal] = {}
        self.reached: dict[str, Signal] = {}
        self._ports = [domain.clk]
        self._fragments = {}
        self._counted = 0

    def add(self, component: wiring.Component, name: str = "unit") -> None:
        """A component, elaborated; its open inputs are free."""
        fragment = Fragment.get(component, None)
        self._fragments[name] = fragment
        self.m.submodules[name] = fragment
        for _, member, value in component.signature.flatten(component):
            if member.flow is wiring.In:
                self._ports.append(Value.cast(value))

    def add_module(self, module: Elaboratable, name: str = "unit") -> None:
        """Hardware that is no component: its inputs are signals of :meth:`free`."""
        fragment = Fragment.get(module, None)
        self._fragments[name] = fragment
        self.m.submodules[name] = fragment

    def free(self, shape: ShapeLike, name: str) -> Signal | View:
        """A signal that has any value in every clock."""
        signal = Signal(shape, name=name)
        self._ports.append(Value.cast(signal))
        return signal

    def constant(self, shape: ShapeLike, name: str) -> Signal | View:
        """A signal that has one value for all time: any."""
        signal = Signal(shape, name=name)
        value = Value.cast(signal)
        self.m.d.comb += value.eq(AnyConst(len(value)))
        return signal

    def named(self, name: str, value: ValueLike) -> Signal:
        """A value as a signal, which counterexamples show."""
        value = Value.cast(value)
        signal = Signal(value.shape(), name=name)
        self.m.d.comb += signal.eq(value)
        return signal

    def past(self, value: ValueLike, clocks: int = 1) -> Signal:
        """``value`` as it was; zero before the first clock."""
        value = Value.cast(value)
        for _ in range(clocks):
            self._counted += 1
            signal = Signal(value.shape(), name=f"past_{self._counted}")
            self.m.d.sync += signal.eq(value)
            value = signal
        return value

    def assume(self, test: ValueLike) -> None:
        """The surroundings keep it in every clock."""
        self.m.d.comb += Assume(Value.cast(test).any())

    def prove(self, name: str, test: ValueLike) -> None:
        """It holds in every clock."""
        if name in self.asserted:
            raise InputError("property", "have a name of its own", name)
        self.asserted[name] = holds = self.named(f"holds_{name}", Value.cast(test).any())
        self.m.d.comb += Assert(holds, name)

    def reach(self, name: str, test: ValueLike) -> None:
        """It happens in some run: what is proved is not said of nothing."""
        self.reached[name] = reached = self.named(f"reached_{name}", Value.cast(test).any())
        self.m.d.comb += Cover(reached, name)

    def inner(self, path: str) -> Signal:
        """A signal within a component, ``unit.fifo.level``, which an invariant speaks of."""
        *folders, name = path.split(".")
        fragment = self._fragment(folders)
        found = {
            id(signal): signal
            for statements in fragment.statements.values()
            for statement in statements
            for signal in statement._lhs_signals()
            if signal.name == name
        }
        if len(found) != 1:
            raise InputError("path", "name one signal of the hardware", f"{path}: {len(found)}")
        return next(iter(found.values()))

    def row(self, path: str, address: ValueLike) -> Signal:
        """What a memory within a component holds at an address, in this clock."""
        memory = self._memory(path)
        self._counted += 1
        depth = memory._data.depth
        index = Signal(ceil_log2(depth), name=f"row_address_{self._counted}")
        row = Signal(Value.cast(memory._data[0]).shape().width, name=f"row_{self._counted}")
        self.m.d.comb += index.eq(address)
        memory.read_port(domain="comb", addr=index, data=row, en=1, transparent_for=())
        return row

    def read_data(self, path: str, number: int = 0) -> Value:
        """Output of a read port of a memory within a component."""
        return self._memory(path)._read_ports[number]._data

    def read_address(self, path: str, number: int = 0) -> Value:
        """Address of a read port of a memory within a component."""
        return self._memory(path)._read_ports[number]._addr

    def write_address(self, path: str, number: int = 0) -> Value:
        """Address of a write port of a memory within a component."""
        return self._memory(path)._write_ports[number]._addr

    def rtlil(self) -> str:
        """The module, for Yosys."""
        return rtlil.convert(self.m, name="top", ports=self._ports)

    def _memory(self, path):
        """A memory, by its path: what :class:`amaranth.lib.memory.Memory` elaborates to."""
        fragment = self._fragment(path.split("."))
        if not isinstance(fragment, MemoryFragment):
            raise InputError("path", "name a memory of the hardware", path)
        return fragment

    def _fragment(self, names):
        """A part of the hardware."""
        first, *others = names
        fragment = self._fragments[first]
        for name in others:
            try:
                fragment = fragment.find_subfragment(name)
            except NameError as error:
                raise InputError("path", "name a part of the hardware", ".".join(names)) from error
        return fragment
