# SPDX-License-Identifier: BSD-2-Clause
"""Events of a frame, as the golden top tells them while it draws."""

from collections.abc import Callable, Sequence

import numpy as np

from fixfunc.models.back_half.back_half import Coloured, Found, Probe
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.frontend import command_reader
from fixfunc.models.frontend.command_reader import TRANSFER, CommandLimits
from fixfunc.models.payload import unpack
from fixfunc.models.performance.events import BEAT, PACKET, PLANES, Beat, FrameEvents
from fixfunc.models.performance.recording.beat_rows import DrawnList, control_row, list_rows
from fixfunc.models.performance.recording.plane_uses import PlaneUses
from fixfunc.models.top.top import Machine
from fixfunc.spec import commands
from fixfunc.spec.commands import UPPER_TRIANGLES, VERTEX_OPCODES, Opcode
from fixfunc.spec.state import Kind


class _Recorder:
    """A probe that remembers every list of triangles."""

    def __init__(self):
        self.lists = []

    def begin(self, found: Found, state: np.void) -> None:
        """A list has been rasterized."""
        self._found = found
        self._state = state.copy()

    def tested(self, numbers: np.ndarray, left: np.ndarray, found: object) -> None:
        """What the depth test finds is told again at the end."""

    def merged(self, numbers: np.ndarray, j: np.ndarray, i: np.ndarray, texels: np.ndarray) -> None:
        """So are colours."""

    def end(self, tested: TestedTiles, made: Coloured) -> None:
        """The list is drawn."""
        self.lists.append(DrawnList(self._found, self._state, tested, made))


def record(
    memory: np.ndarray,
    start: Sequence[int],
    limits: CommandLimits,
    machine_of: Callable[[Probe], Machine],
) -> FrameEvents:
    """Draw a command stream by the golden top, and tell what it asks for.

    Parameters
    ----------
    memory : ndarray of uint8
        Memory before it.
    start : (int, int, int)
        Fields of :data:`fixfunc.spec.commands.START`.
    limits : CommandLimits
    machine_of : callable
        Makes a machine with a probe. It needs no caches (``in_memory`` false): outcomes of its HiZ
        are those of the events.
    """
    address, transfers, _ = start
    read = command_reader.read(memory, *start, limits)
    recorder = _Recorder()
    machine_of(recorder).execute(read.beats, read.resolves, read.assembly)
    planes = {name: PlaneUses(name, limits.edge) for name in PLANES}
    lists = iter(recorder.lists)
    parts = [np.zeros(0, BEAT)]
    count = 0
    triangles = 0
    for kind, records in read.beats:
        if kind == Kind.WORK:
            drawn = next(lists)
            rows = list_rows(drawn, len(records), triangles, read.assembly)
            tiles = count + np.flatnonzero(rows["kind"] == Beat.TILE)
            triangles += len(records)
            for plane in planes.values():
                plane.draw(drawn, tiles)
        else:
            rows = control_row(kind, records[0])
            for plane in planes.values():
                plane.control(kind, records[0], count)
        parts.append(rows)
        count += len(rows)
    data = memory[address : address + transfers * TRANSFER].reshape(-1, TRANSFER)
    packets, releases = _packets(data[: read.at], np.concatenate(parts))
    beats = np.insert(np.concatenate(parts), releases, control_row(Kind.FENCE, _RELEASE))
    moved = np.arange(count) + np.searchsorted(releases, np.arange(count), "right")
    uses = {name: plane.uses() for name, plane in planes.items()}
    surfaces = {name: plane.surfaces() for name, plane in planes.items()}
    for rows in (*uses.values(), *surfaces.values()):
        rows["beat"] = moved[rows["beat"]]
    return FrameEvents(beats, packets, uses, surfaces)


_RELEASE = np.array([(True,)], [("release", "?")])[0]


def _packets(data, beats):
    """Packets of a command stream, and before which beats a RELEASE stands.

    The golden reader gives no beat for a RELEASE: a packet has as many beats before it as there
    are before the next triangle or control beat, and RELEASEs.
    """
    begins = np.flatnonzero(beats["first"] | (beats["kind"] >= Beat.STATE))
    ends = np.append(begins, len(beats))
    rows = []
    releases = []
    at = 0
    passed = 0  # triangles and control beats
    while at < len(data):
        header = unpack(data[at : at + 1], commands.PACKET)[0]
        opcode = Opcode(int(header["opcode"]))
        length = int(header["length"])
        count = length - 1
        if opcode in VERTEX_OPCODES:
            count = int(unpack(data[at : at + 1], commands.VERTEX_PACKET)[0]["count"])
        elif opcode == Opcode.TRIANGLES:
            upper = unpack(data[at : at + 1], commands.TRIANGLES_PACKET)[0]["upper"]
            # Before every eight triangles, and before what is left, stands a transfer more.
            count = count * UPPER_TRIANGLES // (UPPER_TRIANGLES + 1) if upper else count
        rows.append((opcode, length, count, ends[passed] + len(releases)))
        if opcode == Opcode.RELEASE:
            releases.append(ends[passed])
        elif opcode in (Opcode.TRIANGLES, Opcode.PRIMITIVES):
            passed += count
        elif opcode in (Opcode.STATE, Opcode.CLEAR, Opcode.FENCE, Opcode.BLEND_CONSTANT):
            passed += 1
        at += length
    return np.array(rows, PACKET), np.array(releases, np.int64)
