# SPDX-License-Identifier: BSD-2-Clause
"""Context: state is bound, and draws, dispatches and queries become packets of the ring."""

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.host import checks
from fixfunc.models.host.calls import names_calls
from fixfunc.models.host.groups import (
    InputAssembler,
    OutputMerger,
    RasterizerStage,
    StreamOutput,
)
from fixfunc.models.host.queries import ENDS_ALONE, RECORD, Query
from fixfunc.models.host.resources import Buffer
from fixfunc.models.host.stages import ShaderStage, bindings, shaders
from fixfunc.models.host.transfers.copies import Transfers
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import TOTALS, Stage
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import RingOp, StateKind

WORD = (1 << 32) - 1


@names_calls
class Context(Transfers):
    """The immediate context of a device: methods have D3D11's names, the prefix being a group.

    ``context.ia.set_input_layout`` is IASetInputLayout, and ``context.ps.set_samplers`` is
    PSSetSamplers.

    Parameters
    ----------
    device : fixfunc.models.host.device.Device

    Attributes
    ----------
    ia : InputAssembler
    so : StreamOutput
    rs : RasterizerStage
    om : OutputMerger
    vs, hs, ds, gs, ps, cs : ShaderStage

    Commands are executed at once, so that an error names its call. One that breaks a rule raises
    :class:`~fixfunc.spec.errors.InputError`, and nothing has happened.
    """

    def __init__(self, device) -> None:
        super().__init__(device.memory, device.heap, device.machine)
        self.shaders = device.machine.shaders
        self._predicate: Query | None = None
        note = self._changed.add
        held = device.memory, device.heap  # what is written by binding lies there
        self.ia = InputAssembler(note)
        self.so = StreamOutput(note, *held)
        self.rs = RasterizerStage(note)
        self.om = OutputMerger(note)
        self._stages = {stage: ShaderStage(stage, note, *held) for stage in Stage}
        self.stages = tuple(self._stages.values())
        self.vs, self.hs, self.ds, self.gs, self.ps, self.cs = self.stages

    def clear_state(self) -> None:
        """Bind what a new device has bound: nothing, and defaults."""
        for group in (self.ia, self.so, self.rs, self.om, *self._stages.values()):
            group.clear()
        if self._predicate:
            self.set_predication(None)

    # Draws and dispatches.

    def draw(self, vertex_count: int, start_vertex: int = 0) -> None:
        """Draw vertices."""
        self.draw_instanced(vertex_count, 1, start_vertex, 0)

    def draw_indexed(self, index_count: int, start_index: int = 0, base_vertex: int = 0) -> None:
        """Draw vertices by indices."""
        self.draw_indexed_instanced(index_count, 1, start_index, base_vertex, 0)

    def draw_instanced(
        self,
        vertex_count: int,
        instance_count: int,
        start_vertex: int = 0,
        start_instance: int = 0,
    ) -> None:
        """Draw instances of vertices."""
        draw = Draw(vertex_count, instance_count, 0, start_vertex, start_instance)
        integer("start_vertex", start_vertex, 0, WORD)
        checks.draw(self, indexed=False)
        self._work(
            RingOp.DRAW,
            count=draw.count,
            instances=draw.instances,
            base=draw.base,
            first_instance=draw.first_instance,
        )

    def draw_indexed_instanced(
        self,
        index_count: int,
        instance_count: int,
        start_index: int = 0,
        base_vertex: int = 0,
        start_instance: int = 0,
    ) -> None:
        """Draw instances of vertices by indices."""
        draw = Draw(index_count, instance_count, start_index, base_vertex, start_instance, True)
        integer("base_vertex", base_vertex, -(1 << 31), (1 << 31) - 1)
        checks.draw(self, indexed=True)
        self._work(
            RingOp.DRAW,
            indexed=1,
            count=draw.count,
            instances=draw.instances,
            start=draw.start,
            base=draw.base & WORD,
            first_instance=draw.first_instance,
        )

    def draw_instanced_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Draw with four words in a buffer: vertices, instances, start vertex, start instance."""
        checks.arguments(arguments, offset, 16)
        checks.draw(self, indexed=False)
        self._work(RingOp.DRAW_INDIRECT, address=arguments.address + offset)

    def draw_indexed_instanced_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Draw with five: indices, instances, start index, base vertex, start instance."""
        checks.arguments(arguments, offset, 20)
        checks.draw(self, indexed=True)
        self._work(RingOp.DRAW_INDIRECT, indexed=1, address=arguments.address + offset)

    def draw_auto(self) -> None:
        """Draw what stream output has written to the buffer in slot 0 [fs 8.9]."""
        checks.draw_auto(self)
        self._work(RingOp.DRAW_AUTO)

    def dispatch(self, x: int, y: int = 1, z: int = 1) -> None:
        """Run thread groups of the compute shader."""
        checks.dispatch(self, x, y, z)
        self._work(RingOp.DISPATCH, x=x, y=y, z=z)

    def dispatch_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Run as many thread groups as three words in a buffer say."""
        checks.arguments(arguments, offset, 12)
        checks.dispatch(self, 0, 0, 0)
        self._work(RingOp.DISPATCH_INDIRECT, address=arguments.address + offset)

    # Queries, predication.

    def begin(self, query: Query) -> None:
        """Begin a query."""
        if query.kind in ENDS_ALONE:
            raise InputError("query", f"have a beginning: {query.kind.name} has none", "begin")
        self._not_predicate(query)
        self._packets.emit(RingOp.QUERY, address=query.address)
        query.begun = True
        query.ended = False

    def end(self, query: Query) -> None:
        """End a query."""
        if query.kind not in ENDS_ALONE and not query.begun:
            raise InputError("query", "have begun", query.kind.name)
        self._not_predicate(query)
        self._packets.emit(RingOp.QUERY, address=query.address + RECORD)
        query.begun = False
        query.ended = True

    def get_data(self, query: Query) -> object:
        """What a query tells that has ended."""
        if not query.ended:
            raise InputError("query", "have ended", query.kind.name)
        begin, end = (self._totals(query.address + at) for at in (0, RECORD))
        return query.result(begin, end)

    def set_predication(self, query: Query | None, value: bool = False) -> None:
        """Leave out work from now on if a predicate is ``value`` [fs 20.3.6]; None: never."""
        if query is None:
            self._packets.emit(RingOp.PREDICATE)
        else:
            if not query.is_predicate or not query.ended:
                raise InputError("query", "be a predicate that has ended", query.kind.name)
            self._packets.emit(RingOp.PREDICATE, **query.decides(value))
        self._predicate = query

    def flush(self) -> None:
        """Bring all that was drawn to memory."""
        self._settled()

    # Packets.

    def _not_predicate(self, query):
        if query is self._predicate:
            raise InputError("query", "not be the one that decides about work", query.kind.name)

    def _totals(self, address):
        words = self._memory[address : address + 8 * len(TOTALS)].view("<u8")
        return {name: int(word) for name, word in zip(TOTALS, words, strict=True)}

    def _work(self, op, **fields):
        """A packet that uses state: what has changed goes before it."""
        if not self._packets.has_room():
            self._changed.update(StateKind)
        if self._changed:
            place = self._packets.place
            pieces = {
                StateKind.SHADERS: shaders(self._stages),
                StateKind.BINDINGS: bindings(self._stages, place),
            }
            for group in (self.ia, self.so, self.rs, self.om):
                pieces |= group.pieces(place)
            for kind in sorted(self._changed):
                self._packets.put(RingOp.SET_STATE, pieces[kind], state_kind=kind)
            self._changed.clear()
        self._packets.emit(op, **fields)
