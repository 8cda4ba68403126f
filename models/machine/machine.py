# SPDX-License-Identifier: BSD-2-Clause
"""The machine: packets of a ring are executed, from draw calls to targets in memory."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from math import prod

import numpy as np

from fixfunc.models.frontend import compute_stage
from fixfunc.models.frontend.command_processor import CommandProcessor, Stopped, Work
from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.geometry import stream_output
from fixfunc.models.machine import draws, front_half
from fixfunc.models.machine.bindings import bindings
from fixfunc.models.machine.bound_state import BoundState
from fixfunc.models.machine.memory import accesses
from fixfunc.models.machine.memory.undo import Saved, UndoLog
from fixfunc.models.machine.shader_units import ShaderUnits
from fixfunc.models.machine.statistics import predicate
from fixfunc.models.machine.statistics.draw_log import DrawLog
from fixfunc.models.machine.targets import HeldTargets
from fixfunc.models.machine.textures.texture_reads import TextureReads
from fixfunc.models.machine.unordered_access import Shared
from fixfunc.models.memory import copies
from fixfunc.models.memory.counters import by_name
from fixfunc.models.output.display.display import Display
from fixfunc.models.payload import integer
from fixfunc.models.texture.cache.texture_cache import CacheShape
from fixfunc.models.top import top
from fixfunc.spec.commands import START, CommandError
from fixfunc.spec.descriptors import TOTALS, VIEW, BindingKind, Dimension, Stage
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import SYNC_INTERVAL, RingOp, Strategy

MOST_WORK = 1 << 28
CACHE = CacheShape()  # of textures
ALWAYS = (RingOp.QUERY, RingOp.PREDICATE, RingOp.PRESENT)  # whatever a predicate says [fs 20.2]


class Machine:
    """The pipeline with its memory and its ring.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    base, size : int
        Of the ring, bytes.
    shaders : mapping of int to shader
        What numbers of shaders in packets stand for; it may grow.
    strategy : Strategy
        How state changes.
    pool : int
        Slots of a kind of state.
    most_work : int
        Vertices of a draw, or threads of a dispatch: one of more is refused, so that time has a
        bound.
    texture_cache : CacheShape, optional
        What shaders read of textures goes through such a cache and is counted; None: it is not.

    Attributes
    ----------
    processor : CommandProcessor
    totals : Counter
        Of :data:`fixfunc.spec.descriptors.TOTALS` so far; of what was dropped and why; of tiles and
        quads, of what caches have moved of targets, and of what was read of textures.
    draws : DrawLog
        What became of the latest draws, those of command streams apart.
    skips : bool
        Work is left out: a predicate says so.
    units : ShaderUnits
        What shades batches of every stage; others may take their place between pieces of work.
    displays : dict of int to Display
        What PRESENT packets name.
    watch : object, optional
        Is told of work before it is done: ``begin()``, ``draw(part, back)`` of a draw's parts,
        ``clear(view, packet)``, and ``wrote(address)`` of what a copy changes.
    probe : DrawProbe, optional
    access : callable, optional
        Is told each :class:`~.memory.accesses.Access` before it is made; what it raises ends work.

    Work is executed as soon as it has been read, one piece after the other.
    """

    def __init__(
        self,
        memory: np.ndarray,
        base: int,
        size: int,
        shaders: Mapping[int, object],
        strategy: Strategy = Strategy.POOL,
        pool: int = 32,
        most_work: int = MOST_WORK,
        texture_cache: CacheShape | None = CACHE,
    ) -> None:
        self._memory = memory
        self.shaders = shaders
        self.totals = Counter()
        self.draws = DrawLog()
        self._undo = UndoLog()
        self._textures = TextureReads(memory, texture_cache, self.totals)
        self._shared = Shared(memory, self._undo, self._textures)
        self._most_work = most_work
        self._written: set[int] = set()  # addresses that shaders of the work may write to
        self.skips = False
        self.watch = None
        self.probe: draws.DrawProbe | None = None
        self.units = ShaderUnits()
        self.displays: dict[int, Display] = {}
        self.access: Callable[[accesses.Access], None] | None = None
        ring = memory, base, size, strategy, pool, self._can_present, self._reach
        self._new_processor = partial(CommandProcessor, *ring)
        self.processor = self._new_processor()
        self._targets = HeldTargets(memory, self.totals, self._undo)
        self._execute = {
            RingOp.LIST: self._list,
            RingOp.DRAW: self._draw_packet,
            RingOp.DRAW_INDIRECT: self._draw_indirect,
            RingOp.DRAW_AUTO: self._draw_auto,
            RingOp.DISPATCH: self._dispatch_packet,
            RingOp.DISPATCH_INDIRECT: self._dispatch_indirect,
            RingOp.CLEAR: self._clear,
            RingOp.COPY: partial(self._between, copies.copy),
            RingOp.COPY_BYTES: self._copy_bytes,
            RingOp.RESOLVE: partial(self._between, copies.resolve),
            RingOp.MIPS: self._mips,
            RingOp.QUERY: self._query,
            RingOp.PREDICATE: self._set_predicate,
            RingOp.PRESENT: self._present,
        }

    def submit(self, write: int) -> Stopped:
        """Move the ring's write pointer, and execute what lies before it.

        Returns
        -------
        Stopped
            Why the processor does not go on: the ring is empty, a wait, or an error.

        Raises
        ------
        InputError
            Work that breaks a rule: the first such. It counts as done, and what is behind it goes
            on; a draw or a dispatch changes nothing then.
        """
        stopped = self.processor.submit(write)
        error = None
        while self.processor.work:
            while self.processor.work:
                try:
                    self._work(self.processor.work[0])
                except InputError as found:
                    error = error or found
                finally:  # also where a shader raises: what is behind it goes on
                    self.processor.finish()
            stopped = self.processor.run()
        if error:
            raise error
        return stopped

    def reset(self) -> None:
        """Drop what the processor has not executed, its state and its registers; drawn is drawn."""
        self.settle()
        self.processor = self._new_processor()

    def settle(self) -> None:
        """Bring all that was drawn to memory, and forget what has been read of it."""
        self._targets.write_back()
        self._textures.forget()

    def saved(self, spans: Mapping[int, int]) -> Saved:
        """Totals, and what spans of memory hold when all is done: address to bytes."""
        self.settle()
        memory = {begin: self._memory[begin : begin + size].copy() for begin, size in spans.items()}
        return Saved(dict(self.totals), self.skips, memory, self.draws.saved())

    def restore(self, saved: Saved) -> None:
        """Bring totals and memory back, whatever has been done since."""
        self.settle()
        for begin, data in saved.memory.items():
            self._memory[begin : begin + len(data)] = data
        self.totals.clear()
        self.totals.update(saved.totals)
        self.skips = saved.skips
        self.draws.restore(saved.draws)

    def forget(self, address: int) -> None:
        """Keep nothing of a resource whose memory is given back: others may lie there next."""
        if self._targets.holds(address):
            self.settle()
        self._textures.forget({address})

    def _work(self, work: Work):
        self.totals["timestamp"] += 1
        if self.skips and work.op not in ALWAYS:
            if work.op in accesses.DRAWS:
                self.draws.add(Counter(), None)
            return
        self._undo.begin()
        totals = dict(self.totals)
        try:
            if self.access:
                for access in accesses.of_work(self._memory, work, self._pieces(work)):
                    self.access(access)
            self._execute[work.op](work)
        except BaseException:  # also of a shader
            self._undo.roll_back()
            self.totals.clear()
            self.totals.update(totals)
            raise

    # Draws and dispatches.

    def _draw_packet(self, work):
        fields = work.packet
        is_indexed = bool(fields["indexed"])
        base = int(fields["base"])
        self._draw(
            work,
            Draw(
                int(fields["count"]),
                int(fields["instances"]),
                int(fields["start"]),
                int(np.int32(np.uint32(base))) if is_indexed else base,
                int(fields["first_instance"]),
                is_indexed,
            ),
        )

    def _draw_indirect(self, work):
        is_indexed = bool(work.packet["indexed"])
        words = self._words(work.packet["address"], accesses.DRAW_WORDS[is_indexed])
        count, instances, *start, base, first = words
        base = int(np.int32(np.uint32(base))) if is_indexed else base
        self._draw(work, Draw(count, instances, *(start or [0]), base, first, is_indexed))

    def _draw_auto(self, work):
        bound = self._bound(work)
        source = bound.vertex_buffer(0)
        (filled,) = self._words(source["filled_address"], 1)
        buffer = stream_output.StreamBuffer(np.zeros(0, np.uint8), filled)
        draw = stream_output.draw_auto(buffer, int(source["stride"]), int(source["offset"]))
        self._draw(work, draw)

    def _draw(self, work, draw):
        integer("vertices of a draw", draw.count * max(draw.instances, 1), 0, self._most_work)
        bound = self._bound(work)
        functions = self._functions(bound)
        state = bound.front(functions)
        back = bound.back(functions.get(Stage.PIXEL))
        drawn = {int(view["address"]) for view in (*back.colours, back.depth) if view is not None}
        for buffer in state.stream_buffers.values():
            self._undo.keep(buffer.data[buffer.filled :])
        if self.watch:
            self.watch.begin()
        counts = Counter()
        for part in front_half.run(draw, state):
            if self.watch:
                self.watch.draw(part, back)
            counts.update(draws.draw(part, back, self._targets, self.probe))
        self.totals.update(counts)
        self.draws.add(counts, back)
        self._textures.forget(drawn | self._written)
        bound.put_filled(state.stream_buffers)

    def _dispatch_packet(self, work):
        self._dispatch(work, *(int(work.packet[axis]) for axis in "xyz"))

    def _dispatch_indirect(self, work):
        self._dispatch(work, *self._words(work.packet["address"], 3))

    def _dispatch(self, work, *groups):
        self.settle()
        bound = self._bound(work)
        shader = bound.shader(Stage.COMPUTE)
        if shader is None:
            return
        integer("threads of a dispatch", prod(groups) * prod(shader.threads), 0, self._most_work)
        function = self._functions(bound)[Stage.COMPUTE]
        self.totals["cs_invocations"] += compute_stage.dispatch(shader, function, groups)

    def _functions(self, bound):
        """Shaders with what is bound to their stages."""
        bound_stages = bindings(self._shared, *bound.bindings)
        used, written = (
            {address for stage in bound_stages.values() for address in stage.addresses(*kinds)}
            for kinds in ((BindingKind.RESOURCE, BindingKind.UNORDERED), (BindingKind.UNORDERED,))
        )
        if any(map(self._targets.holds, used)):
            self.settle()
        self._written = written
        pixel = bound.shader(Stage.PIXEL)
        bound_stages[Stage.PIXEL].declared = pixel is not None and pixel.unordered
        return {
            stage: partial(self.units.run, getattr(shader, "function", shader), bound_stages[stage])
            for stage in Stage
            if (shader := bound.shader(stage)) is not None
        }

    # Clears, copies, queries.

    def _clear(self, work):
        self.settle()
        view = piece(work.more[0], VIEW)
        if self.watch and work.packet["rectangle"]:
            self.watch.wrote(int(view["address"]))
        elif self.watch and view["dimension"] != Dimension.BUFFER:
            self.watch.clear(view, work.packet)
        copies.clear(self._memory, view, work.packet)

    def _between(self, function, work):
        """Copy, or resolve, from a view to another."""
        self.settle()
        source, target = (piece(data, VIEW) for data in work.more)
        if self.watch:
            self.watch.wrote(int(target["address"]))
        function(self._memory, source, target, work.packet)

    def _copy_bytes(self, work):
        self.settle()
        source, target, size = (int(work.packet[n]) for n in ("source", "target", "size"))
        self._within(source, size)
        self._within(target, size)
        self._memory[target : target + size] = self._memory[source : source + size].copy()

    def _mips(self, work):
        self.settle()
        copies.mips(self._memory, piece(work.more[0], VIEW))

    def _list(self, work):
        """A command stream: the part of the machine that is hardware executes it."""
        self.settle()
        machine = top.Machine(self._memory)
        drawn = machine.draw(*(int(work.packet[field.name]) for field in START))
        self.totals.update(by_name(machine.traffic))
        last = drawn.status[-1]
        if last["error"]:
            found = f"{CommandError(int(last['error'])).name} at transfer {last['at']}"
            raise InputError("command stream", "be free of errors", found)

    def _query(self, work):
        address = int(work.packet["address"])
        values = np.array([self.totals[name] for name in TOTALS], "<u8").view(np.uint8)
        self._within(address, len(values))
        self._memory[address : address + len(values)] = values

    def _set_predicate(self, work):
        """Results are there: work before the packet has been executed."""
        fields = work.packet
        self.skips = False
        if not fields["enable"]:
            return
        begin, end = (
            dict(zip(TOTALS, self._words(fields[name], len(TOTALS), "<u8"), strict=True))
            for name in ("begin", "end")
        )
        grown = {name: end[name] - begin[name] for name in TOTALS}
        self.skips = predicate.holds(fields, grown) == bool(fields["value"])

    def _present(self, work):
        self.settle()
        number = int(work.packet["display"])
        if number not in self.displays:
            raise InputError("display", f"be one of {sorted(self.displays)}", number)
        interval = integer("sync_interval", int(work.packet["sync_interval"]), 0, SYNC_INTERVAL)
        self.displays[number].take(piece(work.more[0], VIEW))
        self.displays[number].present(interval)

    def _can_present(self, packet):
        display = self.displays.get(int(packet["display"]))
        return display is None or not display.waits

    # Memory and state.

    def _bound(self, work):
        return BoundState(self._memory, self._pieces(work), self.shaders)

    def _pieces(self, work):
        slots = self.processor.slots
        return [slots.value(kind, n) if n >= 0 else b"" for kind, n in enumerate(work.slots)]

    def _reach(self, address, size, write):
        """The command processor's own access."""
        if self.access:
            self.access(accesses.Access(accesses.Client.COMMANDS, address, size, write))

    def _words(self, address, count, kind="<u4"):
        address = int(address)
        self._within(address, size := np.dtype(kind).itemsize * count)
        data = self._memory[address : address + size]
        return [int(value) for value in np.ascontiguousarray(data).view(kind)]

    def _within(self, address, size):
        end = address + size
        if end > len(self._memory):
            raise InputError("address", f"end within memory, at {len(self._memory)}", end)
