# SPDX-License-Identifier: BSD-2-Clause
"""A frame as a job of the top: the command stream, and the expected beats and bytes."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.figures.counters import mode_name, replayed
from fixfunc.cosim.frame.vertex_list import GROUPS, VertexList
from fixfunc.cosim.reference import top
from fixfunc.models.back_half.back_half import Probe
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.memory.surface import plane_bytes, tiles_of, to_image
from fixfunc.models.memory.tile_codecs import ColourCodec, DepthCodec, RawCodec
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.payload import dtype
from fixfunc.models.performance.events import FrameEvents
from fixfunc.models.performance.recording.recorder import record
from fixfunc.models.scene import shading
from fixfunc.models.scene.render import Frame
from fixfunc.models.scene.scene import Scene
from fixfunc.models.texture.texture import Texture
from fixfunc.models.texture.unit.stored import form_of, sampler_fields, stored
from fixfunc.models.top.shades import Shades, Shading
from fixfunc.rtl.top import TopParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import colours
from fixfunc.spec.commands import START, STATUS
from fixfunc.spec.counters import CLIENTS, COUNTERS
from fixfunc.spec.errors import InputError
from fixfunc.spec.memory.caching import counted as counted_of
from fixfunc.spec.pixels.interpolation import How
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import PERMISSIONS, PERMITTED, SAMPLE_COUNTS, Compare, TileMode

PAGE = 4096
MOST = (1 << 24) - 1  # transfers of a START


class Job:
    """A command stream in memory, and what the top makes of it.

    Parameters
    ----------
    params : fixfunc.rtl.top.TopParams
    data : ndarray of uint8
        Memory before it.
    start : (int, int, int)
        Fields of :data:`fixfunc.spec.commands.START`.
    shader : callable
        As :class:`fixfunc.models.top.top.Machine` takes it.
    """

    def __init__(
        self,
        params: TopParams,
        data: np.ndarray,
        start: tuple[int, int, int],
        shader: Callable[[Shading], np.ndarray | Shades],
    ) -> None:
        self.params = params
        self.data = data
        self.start = start
        self._shader = shader

    def inputs(self) -> dict[str, np.ndarray]:
        """Beats in, by port: colours are those of tiles that pass, whenever that is."""
        golden = top.machine(
            self.params, self.data.copy(), shader=self._shader, in_memory=False
        ).draw(*self.start)
        record = np.zeros(1, codec.wide(START))
        record["address"], record["transfers"], record["limit"] = self.start
        edge = self.params.raster.edge
        depths = self.params.depth.shader_depths
        shaded = [
            np.zeros((0, codec.words(payloads.width(colours(edge, depths)))), np.uint64),
            *(top.pack_colours(part, self.params) for _, part in golden.probes["colours"]),
        ]
        self.room = 65536 + max(
            sum(len(records) for _, records in probe) for probe in golden.probes.values()
        )
        return {
            "i": codec.pack(record, START),
            "starts": np.ones((1, 1), np.uint64),
            "colours": np.concatenate(shaded),
            "counter_address": np.arange(len(COUNTERS), dtype=np.uint64)[:, None],
            "context": np.zeros(
                (0, codec.words(payloads.width(payloads.context(edge)))), np.uint64
            ),
        }

    def expected(
        self, outputs: dict[str, np.ndarray], probe: Probe | None = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, dict[str, int]]:
        """Expected beats of every probe and bytes of memory, outcomes of HiZ, and counters.

        Outcomes depend on when reports reach HiZ, and are read from the outputs. The probe is told
        what every stage decides.
        """
        data = self.data.copy()
        golden = top.machine(
            self.params,
            data,
            shader=self._shader,
            outcomes=top.HizOutcomes(outputs["probe_hiz"], self.params.raster.edge),
            probe=probe,
        )
        drawn = golden.draw(*self.start)
        beats = top.expected_of([drawn], outputs, self.params)
        return (
            beats | {"memory": data.view(np.uint64).reshape(-1, 4)},
            np.concatenate([np.zeros(0, np.uint8), *(draw.outcome for draw in drawn.draws)]),
            replayed(golden, drawn),
        )

    def replay(self, shape: CacheShape, bounds: str | None) -> dict[str, int]:
        """Golden counters by name, of caches of a shape and a HiZ of these bounds, or of none."""
        golden = top.machine(
            self.params, self.data.copy(), shape=shape, shader=self._shader, bounds=bounds
        )
        return replayed(golden, golden.draw(*self.start))

    def events(self, outputs: dict[str, np.ndarray] | None = None) -> FrameEvents:
        """What the job asks of a machine of any shape, as the golden top tells it.

        Outcomes of HiZ are those of ``outputs``, or of a HiZ that hears of depths at once.
        """
        more = {"shader": self._shader, "in_memory": False}
        if outputs:
            more["outcomes"] = top.HizOutcomes(outputs["probe_hiz"], self.params.raster.edge)
        return record(
            self.data,
            self.start,
            top.limits_of(self.params),
            lambda probe: top.machine(self.params, self.data.copy(), probe=probe, **more),
        )


def can_sample(params: TopParams, texture: Texture | None) -> bool:
    """Whether the pixel pipe of a top draws with this texture, or without any, by itself.

    Textures of one channel are shown grey, which it cannot.
    """
    if texture is None:
        return True
    unit = params.pixels.texture
    return (
        bool(unit)
        and texture.format not in shading.GREY
        and (form_of(texture) in unit.cache.formats)
    )


def in_memory(transfers: np.ndarray, at: int) -> tuple[np.ndarray, tuple[int, int, int]]:
    """Memory that ends with a command stream, and the stream's START.

    Parameters
    ----------
    transfers : ndarray of uint64, shape (n, 4)
    at : int
        Where it lies: below are the planes that it draws on.
    """
    start = at, len(transfers), at + 32 * len(transfers)
    data = np.zeros(start[2], np.uint8)
    data[at:] = np.ascontiguousarray(transfers).view(np.uint8).ravel()
    return data, start


class FrameJob(Job):
    """A golden frame as a command stream.

    Parameters
    ----------
    scene : fixfunc.models.scene.scene.Scene
    frame : fixfunc.models.scene.render.Frame
    params : fixfunc.rtl.top.TopParams
    resolve : bool
        In the end a RESOLVE makes pixels of the samples, in a plane of their own.
    ahead : int
        As of :class:`~fixfunc.cosim.frame.vertex_list.VertexList`.
    alpha_test : Compare
        Pixels are kept whose alpha compares so with 0. Any but ALWAYS makes the draw late.
    """

    def __init__(
        self,
        scene: Scene,
        frame: Frame,
        params: TopParams,
        resolve: bool = False,
        ahead: int = GROUPS // 2,
        alpha_test: Compare = Compare.ALWAYS,
    ) -> None:
        self.scene = scene
        self.frame = frame
        count = tiles_of(frame.state)
        at = 0
        self.bases = {}
        for plane in ("depth", "stencil", "colour"):
            self.bases[plane] = at
            at = at + -(-plane_bytes(count, plane) // PAGE) * PAGE
        state = frame.state.copy()
        textures = np.zeros(0, np.uint8)
        built_in = params.pixels is not None and can_sample(params, scene.texture)
        state["built_in"] = built_in
        if alpha_test != Compare.ALWAYS:
            for name in PERMISSIONS:
                state[name] &= name in PERMITTED["discard"]
        packets = CommandList().target(**self.bases).state(state)
        self._pictured = state
        if resolve:
            self._pictured = state.copy()
            self._pictured["samples"] = 0
            self.bases["pixels"] = at
            at += -(-plane_bytes(tiles_of(self._pictured), "colour") // PAGE) * PAGE
        packets.clear(
            (0, 0, scene.width, scene.height),
            depth=1,
            stencil=1,
            colour=1,
            depth_value=int(state["depth_max"]),
            colour_value=int(self.background),
        )
        if built_in:
            if scene.texture:
                texture = stored(scene.texture, at)
                packets.texture(**texture.fields, **sampler_fields(shading.SAMPLER))
                textures, at = texture.data, at + -(-len(texture.data) // PAGE) * PAGE
            # The first attribute is the colour, the second one where the texture is.
            packets.pixel_state(
                interpolated=1,
                op=TextureOp.MODULATE if scene.texture else TextureOp.NONE,
                coordinates=1,
                alpha_test=alpha_test,
                sample_mask=255,
                how0=How.PERSPECTIVE,
                how1=How.PERSPECTIVE,
            )
            VertexList(packets, params.reader.ring.slots, ahead).write(frame.part)
            packets.fence(1)
        else:
            packets.triangles(frame.triangles.astype(TRIANGLE)).fence(1)
        if resolve:
            packets.resolve(
                samples=int(state["samples"]),
                width=scene.width,
                height=scene.height,
                source=self.bases["colour"],
                target=self.bases["pixels"],
                source_cleared=int(self.background),
                target_cleared=int(self.background),
            )
        transfers = packets.transfers
        if len(transfers) > MOST:
            raise InputError(
                "triangles", f"be few enough for {MOST} transfers of commands", len(frame.triangles)
            )
        data, start = in_memory(transfers, at)
        first = at - -(-len(textures) // PAGE) * PAGE
        data[first : first + len(textures)] = textures
        super().__init__(params, data, start, self._shade)

    @property
    def background(self) -> np.uint32:
        """RGBA8, of what no face covers."""
        return shading.rgba(np.array(shading.BACKGROUND))

    def _shade(self, shaded):
        return shading.shade(self.scene, self.frame.part, shaded.tiles, shaded.triangle)

    def picture(self, memory: np.ndarray) -> np.ndarray:
        """The picture in memory: uint8, shape (height, width, 3).

        Of a target that has not been resolved, averaged over samples.
        """
        plane = "pixels" if "pixels" in self.bases else "colour"
        values = self._plane(plane, ColourCache, int(self.background), memory).values()
        samples = SAMPLE_COUNTS[self._pictured["samples"]]
        image = to_image(values, self.scene.width, self.scene.height, samples)
        channels = (image[..., None] >> np.arange(0, 24, 8, dtype=np.uint32) & 255).astype(
            np.uint32
        )
        return ((channels.sum(2) + samples // 2) // samples).astype(np.uint8)

    def modes(self, memory: np.ndarray) -> np.ndarray:
        """Modes of the tiles of depths: uint8, row by row."""
        count = tiles_of(self.frame.state)
        table = memory[self.bases["depth"] + plane_bytes(count, "depth") - -(-count // 64) * 32 :][
            : -(-count // 2)
        ]
        return np.stack([table & 15, table >> 4], -1).ravel()[:count]

    def _plane(self, plane, kind, cleared, memory):
        """A plane as memory holds it."""
        cache = kind(
            self._pictured if plane == "pixels" else self.frame.state,
            top.shape(self.params),
            self.params.raster.edge,
            memory[self.bases[plane] :],
        )
        cache.load_modes(cleared)
        return cache


def status(rows: np.ndarray) -> list[dict[str, int]]:
    """Status words that came out: a dict by field for each."""
    return [
        {name: int(record[name]) for name in record.dtype.names}
        for record in codec.unpack(rows, STATUS, dtype(STATUS))
    ]


def counters(rows: np.ndarray) -> dict[str, int]:
    """What the counters said: numbers by name."""
    return dict(zip(COUNTERS, (int(value) for value in rows[:, 0]), strict=True))


def traffic(counted: dict[str, int], edge: int = 8) -> list[tuple[str, str, str, int, int]]:
    """Memory traffic of counters by name: client, cause, mode, count and bytes.

    Counts are of tiles or transfers; those of zero are left out.
    """
    out = []
    for client in CLIENTS:
        for field in counted_of(differences=client != "stencil"):
            count = counted[f"{client}_{field.name}"]
            if count:
                out.append((client, *_traffic_row(field.name, client, count, edge)))
    if resolved := counted["resolve_transfers"]:
        out.append(("resolve", "transfers", "", resolved, 32 * resolved))
    return out


def _traffic_row(name, client, count, edge):
    """Cause, mode, how many and how many bytes of a counter."""
    if name.startswith("table"):
        return name, "", count, 32 * count
    cause, number = name.rsplit("_", 1)
    mode = TileMode(int(number))
    return cause, mode_name(client, mode), count, _codec(client, edge).size(mode) * count


def _codec(client, edge):
    """What tells the bytes of a client's tiles."""
    if client == "depth":
        return DepthCodec("anchor", edge)
    if client == "colour" and edge == EDGE:
        return ColourCodec(4)
    return RawCodec({"stencil": 1, "colour": 4}[client], edge)
