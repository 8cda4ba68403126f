# SPDX-License-Identifier: BSD-2-Clause
"""Pieces of state, read: what the stages of the machine take."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fixfunc.models.frontend.input_assembler import IndexBuffer
from fixfunc.models.frontend.state.pieces import as_float, piece, table
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.geometry.geometry_stage import GeometryStage
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.stream_output import StreamBuffer
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.machine.back_state import BackState, check_forced
from fixfunc.models.machine.front_half import FrontState
from fixfunc.models.machine.shaders import PROGRAMS, GeometryShader
from fixfunc.models.memory.copies import DEPTHS
from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import RENDERABLE
from fixfunc.models.payload import enumerated, integer
from fixfunc.models.tessellation.stages import Tessellation
from fixfunc.spec.descriptors import (
    ELEMENT,
    STATE,
    STREAM_BUFFER,
    TARGET_BLEND,
    TARGETS,
    VERTEX_BUFFER,
    VIEW,
    VIEWPORT,
    VIEWPORTS,
    Stage,
)
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import StateKind
from fixfunc.spec.state import (
    SAMPLE_COUNTS,
    TARGET_LIMIT,
    BlendFactor,
    BlendOp,
    Cull,
    DepthFormat,
    LogicOp,
)

DEPTH_FIELDS = (
    "depth_test",
    "depth_write",
    "depth_compare",
    "stencil_test",
    "stencil_read",
    "stencil_write",
    "stencil_ref",
)


class BoundState:
    """State of a piece of work.

    Parameters
    ----------
    memory : ndarray of uint8
    pieces : sequence of bytes
        By :class:`fixfunc.spec.ring.StateKind`; of no bytes, if there has been none.
    shaders : mapping of int to shader

    Every method raises :class:`~fixfunc.spec.errors.InputError` for state that breaks a rule.
    """

    def __init__(
        self, memory: np.ndarray, pieces: Sequence[bytes], shaders: Mapping[int, object]
    ) -> None:
        self._memory = memory
        self._pieces = {kind: piece(pieces[kind], STATE[kind]) for kind in StateKind}
        self._shaders = shaders

    def shader(self, stage: Stage) -> object | None:
        """The shader of a stage; None, if there is none."""
        number = int(self._pieces[StateKind.SHADERS][stage.name.lower()])
        if not number:
            return None
        found = self._shaders.get(number)
        kind = PROGRAMS.get(stage)
        if not (isinstance(found, kind) if kind else callable(found)):
            raise InputError(f"{stage.name} shader", "be the number of one", number)
        return found

    @property
    def bindings(self) -> tuple[int, int]:
        """Address and transfers of the table of what is bound to stages."""
        where = self._pieces[StateKind.BINDINGS]
        return int(where["address"]), int(where["count"])

    def vertex_buffer(self, slot: int) -> np.void:
        """A vertex buffer: :data:`fixfunc.spec.descriptors.VERTEX_BUFFER`."""
        where = self._pieces[StateKind.INPUT]
        if slot >= where["buffers"]:
            raise InputError("vertex buffer", "be bound", slot)
        rows = table(self._memory, where["buffers_address"], where["buffers"], VERTEX_BUFFER)
        return rows[slot]

    @property
    def targets(self) -> tuple[list[np.void | None], np.void | None]:
        """Views of colours, and of depths."""
        where = self._pieces[StateKind.TARGETS]
        rows = table(self._memory, where["address"], where["colours"] + where["has_depth"], VIEW)
        colours = [row if row["form"] else None for row in rows[: where["colours"]]]
        depth = rows[-1] if where["has_depth"] else None
        for row, forms in (*((colour, RENDERABLE) for colour in colours), (depth, DEPTHS)):
            if row is not None and row["form"] not in list(forms):
                raise InputError("format of a target", "be one that is drawn to", int(row["form"]))
        shapes = {_shape(row) for row in (*colours, depth) if row is not None}
        if len(shapes) > 1:
            raise InputError("targets", "be of one size, layers and samples", sorted(shapes))
        return colours, depth

    @property
    def stream_buffers(self) -> list[np.void]:
        """Buffers of stream output: :data:`fixfunc.spec.descriptors.STREAM_BUFFER`, by slot."""
        where = self._pieces[StateKind.STREAM_OUTPUT]
        return list(table(self._memory, where["address"], where["count"], STREAM_BUFFER))

    # Front half.

    def front(self, functions: Mapping[Stage, Callable]) -> FrontState:
        """State of the front half; ``functions`` are those of shaders, with what is bound."""
        if Stage.VERTEX not in functions:
            raise InputError("vertex shader", "be set", None)
        where = self._pieces[StateKind.INPUT]
        if not where["topology"]:
            raise InputError("topology", "be set", 0)
        stages = {stage: self.shader(stage) for stage in Stage}
        geometry = stages[Stage.GEOMETRY] or GeometryShader()
        return FrontState(
            functions[Stage.VERTEX],
            self._elements(where),
            self._vertex_buffers(where),
            self._index_buffer(where),
            enumerated(Topology, where["topology"], "topology"),
            "fifo" if where["fifo"] else "batch",
            self._tessellation(stages, functions),
            self._geometry(geometry, functions),
            geometry.stream_output,
            self._open_streams(),
            geometry.rasterized,
            self._rasterizer(),
        )

    def put_filled(self, buffers: Mapping[int, StreamBuffer]) -> None:
        """Write to memory how much of the buffers of stream output is filled."""
        for slot, record in enumerate(self.stream_buffers):
            if slot in buffers:
                address = int(record["filled_address"])
                filled = np.array([buffers[slot].filled], "<u4")
                self._memory[address : address + 4] = filled.view(np.uint8)

    def _span(self, record):
        begin = int(record["address"])
        return self._memory[begin : begin + int(record["size"])]

    def _elements(self, where):
        rows = table(self._memory, where["elements_address"], where["elements"], ELEMENT)
        return [
            Element(
                int(row["register"]),
                enumerated(Format, row["form"], "format"),
                int(row["slot"]),
                int(row["offset"]),
                StepClass(int(row["step_class"])),
                int(row["step_rate"]),
            )
            for row in rows
        ]

    def _vertex_buffers(self, where):
        rows = table(self._memory, where["buffers_address"], where["buffers"], VERTEX_BUFFER)
        return {
            slot: VertexBuffer(self._span(row), int(row["stride"]), int(row["offset"]))
            for slot, row in enumerate(rows)
            if row["bound"]
        }

    def _index_buffer(self, where):
        if not where["index_bytes"]:
            return None
        begin = int(where["index_address"])
        data = self._memory[begin : begin + int(where["index_size"])]
        return IndexBuffer(data, int(where["index_bytes"]), int(where["index_offset"]))

    def _tessellation(self, stages, functions):
        hull = stages[Stage.HULL]
        if hull is None:
            return None
        if Stage.DOMAIN not in functions:
            raise InputError("domain shader", "be set beside a hull shader", None)
        return Tessellation(
            functions[Stage.HULL],
            functions[Stage.DOMAIN],
            hull.kind,
            hull.partitioning,
            hull.output,
        )

    def _geometry(self, geometry, functions):
        if geometry.function is None:
            return None
        return GeometryStage(
            functions[Stage.GEOMETRY], geometry.output, geometry.most, geometry.instances
        )

    def _open_streams(self):
        buffers = {}
        for slot, row in enumerate(self.stream_buffers):
            if row["bound"]:
                at = integer("filled_address", row["filled_address"], 0, len(self._memory) - 4)
                filled = int.from_bytes(self._memory[at : at + 4].tobytes(), "little")
                buffers[slot] = StreamBuffer(self._span(row), filled)
        return buffers

    @property
    def _viewports(self):
        where = self._pieces[StateKind.VIEWPORTS]
        return table(self._memory, where["address"], where["count"], VIEWPORT)

    def _ports(self):
        """All 16 viewports: those that are not set are empty."""
        ports = [
            Viewport(*(as_float(row[name]) for name in Viewport.__dataclass_fields__))
            for row in self._viewports
        ]
        return ports + [Viewport()] * (VIEWPORTS - len(ports))

    def _rasterizer(self):
        fields = self._pieces[StateKind.RASTERIZER]
        _, depth = self.targets
        form = DepthFormat.D24 if depth is None else DEPTHS[Format(int(depth["form"]))]
        return Rasterizer(
            self._ports(),
            bool(fields["depth_clip"]),
            form,
            bool(fields["wireframe"]),
            enumerated(Cull, fields["cull"], "cull"),
            bool(fields["front_ccw"]),
            aliased=not fields["multisample"],
            antialiased=bool(fields["antialiased_line"]),
        )

    # Back half.

    def back(self, function: Callable | None) -> BackState:
        """State of the back half; ``function`` is the pixel shader's, with what is bound."""
        colours, depth = self.targets
        raster = self._pieces[StateKind.RASTERIZER]
        tests = self._pieces[StateKind.DEPTH_STENCIL]
        mix = self._pieces[StateKind.BLEND]
        draw = {
            name: int(tests[name])
            for name in tests.dtype.names
            if name in DEPTH_FIELDS or name.startswith("stencil_")
        }
        draw |= {name: int(raster[name]) for name in raster.dtype.names if name.startswith("bias")}
        draw |= {
            "cull": enumerated(Cull, raster["cull"], "cull"),
            "front_ccw": bool(raster["front_ccw"]),
        }
        is_tested = bool(draw["depth_test"] or draw["stencil_test"])
        ports = self._ports()
        whole = (0, 0, TARGET_LIMIT, TARGET_LIMIT)
        scissors = [
            tuple(int(row[name]) for name in ("x0", "y0", "x1", "y1"))
            if raster["scissor"]
            else whole
            for row in self._viewports
        ]
        scissors += [whole] * (len(ports) - len(scissors))
        return BackState(
            colours,
            depth,
            draw,
            list(zip([port.scissor for port in ports], scissors, strict=True)),
            [(port.min_depth, port.max_depth) for port in ports],
            self.shader(Stage.PIXEL),
            function,
            self._blends(mix),
            np.array([as_float(mix[f"factor{n}"]) for n in range(4)], np.float32),
            int(mix["sample_mask"]),
            self._conservative(raster, depth),
            bool(mix["alpha_to_coverage"]),
            self._forced(raster, colours, depth is not None or is_tested),
        )

    def _conservative(self, raster, depth):
        if raster["conservative"] and depth is not None:
            raise InputError("conservative coverage", "be without a target of depths", 1)
        return bool(raster["conservative"])

    def _forced(self, raster, colours, has_depths):
        count = int(raster["forced_samples"])
        samples = (SAMPLE_COUNTS[view["samples"]] for view in colours if view is not None)
        check_forced(count, samples, has_depths, self.shader(Stage.PIXEL))
        return count

    def _blends(self, mix):
        rows = table(self._memory, mix["address"], TARGETS, TARGET_BLEND)
        return [
            Blend(
                bool(row["enable"]),
                enumerated(BlendFactor, row["source"], "source"),
                enumerated(BlendFactor, row["target"], "target"),
                enumerated(BlendOp, row["op"], "op"),
                enumerated(BlendFactor, row["source_alpha"], "source_alpha"),
                enumerated(BlendFactor, row["target_alpha"], "target_alpha"),
                enumerated(BlendOp, row["op_alpha"], "op_alpha"),
                int(row["write"]),
                bool(row["logic"]),
                enumerated(LogicOp, row["logic_op"], "logic_op"),
                bool(row["dither"]),
            )
            for row in rows
        ]


def _shape(view):
    """Width, height, layers and log2 of the samples of what a view of a target shows."""
    level = int(view["first_level"])
    sides = (max(int(view[side]) >> level, 1) for side in ("width", "height"))
    return *sides, int(view["layer_count"]), int(view["samples"])
