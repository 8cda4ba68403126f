# SPDX-License-Identifier: BSD-2-Clause
"""Context: state is bound, and draws, dispatches and queries become packets of the ring."""

import numpy as np

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.host import checks
from fixfunc.models.host.calls import check_held, names_calls
from fixfunc.models.host.groups import (
    InputAssembler,
    OutputMerger,
    RasterizerStage,
    StreamOutput,
)
from fixfunc.models.host.lists.command_list import CommandList, bound_of, copied
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.queries import ENDS_ALONE, RECORD, Query
from fixfunc.models.host.resources import Buffer
from fixfunc.models.host.stages import ShaderStage, bindings, shaders
from fixfunc.models.host.transfers.copies import Transfers
from fixfunc.models.machine.machine import Machine
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
    memory : ndarray of uint8
    heap : Heap
    machine : Machine
        Those of the device.

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

    def __init__(self, memory: np.ndarray, heap: Heap, machine: Machine) -> None:
        super().__init__(memory, heap, machine)
        self.shaders = machine.shaders
        self._predicate: tuple[Query | None, bool] = None, False
        note = self._changed.add
        held = self._set_word, heap  # what is written by binding lies there
        self.ia = InputAssembler(note)
        self.so = StreamOutput(note, *held)
        self.rs = RasterizerStage(note)
        self.om = OutputMerger(note)
        self._stages = {stage: ShaderStage(stage, note, *held) for stage in Stage}
        self.stages = tuple(self._stages.values())
        self.vs, self.hs, self.ds, self.gs, self.ps, self.cs = self.stages
        self._groups = self.ia, self.so, self.rs, self.om, *self.stages

    def clear_state(self) -> None:
        """Bind what a new device has bound: nothing, and defaults."""
        for group in self._groups:
            group.clear()
        if self._predicate[0]:
            self.set_predication(None)

    # Command lists.

    def execute_command_list(self, commands: CommandList, restore_state: bool = False) -> None:
        """Execute a list, which inherits nothing that is bound and leaves nothing [fs 6.3.3-6.3.4].

        Parameters
        ----------
        commands : CommandList
        restore_state : bool
            What is bound now is bound again behind it.

        A list of which one call fails changes nothing.
        """
        self._check_queries(commands)
        check_held("predicate", self._predicate[0], self.heap)
        bound = self._bound()
        objects = [(held, dict(vars(held))) for held in commands.objects]
        saved = self._machine.saved(self.heap.taken)
        self.clear_state()
        try:
            commands.make(self)
        except BaseException:  # also of a shader
            for held, fields in objects:
                vars(held).update(fields)
            self._machine.restore(saved)
            self._bind_groups(bound)
            raise
        self._bind(bound) if restore_state else self.clear_state()

    def _check_queries(self, commands):
        """What a list begins or ends has not begun outside of it [fs 6.3.6]."""
        for query in commands.queries:
            if self._has_begun(query):
                raise InputError("query of the list", "not have begun", query.kind.name)

    def _bound(self):
        """What is bound: of each group, and the predicate."""
        return tuple(map(bound_of, self._groups)), self._predicate

    def _bind_groups(self, bound):
        groups, self._predicate = bound
        for group, fields in zip(self._groups, groups, strict=True):
            vars(group).update(copied(fields))
        self._changed.update(StateKind)

    def _bind(self, bound):
        self._bind_groups(bound)
        self.set_predication(*self._predicate)

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
        self.packets.emit(RingOp.QUERY, address=query.address)
        self._mark(query, begun=True)

    def end(self, query: Query) -> None:
        """End a query."""
        if query.kind not in ENDS_ALONE and not self._has_begun(query):
            raise InputError("query", "have begun", query.kind.name)
        self._not_predicate(query)
        self.packets.emit(RingOp.QUERY, address=query.address + RECORD)
        self._mark(query, begun=False)

    def get_data(self, query: Query) -> object:
        """What a query tells that has ended."""
        if not query.ended:
            raise InputError("query", "have ended", query.kind.name)
        begin, end = (self._totals(query.address + at) for at in (0, RECORD))
        return query.result(begin, end)

    def set_predication(self, query: Query | None, value: bool = False) -> None:
        """Leave out work from now on if a predicate is ``value`` [fs 20.3.6]; None: never."""
        if query is None:
            self.packets.emit(RingOp.PREDICATE)
        else:
            if not query.is_predicate or not self._has_ended(query):
                raise InputError("query", "be a predicate that has ended", query.kind.name)
            self.packets.emit(RingOp.PREDICATE, **query.decides(value))
        self._predicate = query, value

    def flush(self) -> None:
        """Bring all that was drawn to memory."""
        self._settled()

    # Packets.

    def _not_predicate(self, query):
        if query is self._predicate[0]:
            raise InputError("query", "not be the one that decides about work", query.kind.name)

    def _has_begun(self, query):
        return query.begun

    def _has_ended(self, query):
        return query.ended

    def _mark(self, query, begun):
        query.begun = begun
        query.ended = not begun

    def _totals(self, address):
        words = self._memory[address : address + 8 * len(TOTALS)].view("<u8")
        return {name: int(word) for name, word in zip(TOTALS, words, strict=True)}

    def _work(self, op, **fields):
        """A packet that uses state: what has changed goes before it."""
        if not self.packets.has_room():
            self._changed.update(StateKind)
        if self._changed:
            place = self.packets.place
            pieces = {
                StateKind.SHADERS: shaders(self._stages),
                StateKind.BINDINGS: bindings(self._stages, place),
            }
            for group in (self.ia, self.so, self.rs, self.om):
                pieces |= group.pieces(place)
            for kind in sorted(self._changed):
                self.packets.put(RingOp.SET_STATE, pieces[kind], state_kind=kind)
            self._changed.clear()
        self.packets.emit(op, **fields)
