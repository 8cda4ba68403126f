# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.depth.hiz.hiz.Hiz`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_bounds import drawn_bounds
from fixfunc.models.depth.depth_test import D24_MAX
from fixfunc.models.depth.depth_unit import BITS
from fixfunc.models.depth.hiz import HiZ
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.contract import StageContract
from fixfunc.models.payload import dtype
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import TARGET_FIELDS
from fixfunc.rtl.depth.hiz.hiz import HizParams
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind, Outcome, StencilOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.depth.loop import (
    STAMP,
    Harness,  # noqa: F401 - the simulator runs it in place of the block
    requested,
)

PIXELS = {4: 32, 8: 200}  # largest side of a target, by the tile's edge


def requests(rng: np.random.Generator, count: int, params: HizParams) -> np.ndarray:
    """Targets that follow one another; draws of tiles, each a triangle's last.

    Clears and fences in between.
    """
    table = payloads.tile(params.edge)
    out = []
    while sum(map(len, out)) < count:
        size = tuple(int(v) for v in rng.integers(1, PIXELS[params.edge] + 1, 2))
        samples = 1 << int(rng.integers(0, len(params.modes)))
        form = DepthFormat(rng.integers(0, 3))
        target = rng.integers(0, 8)
        for n in range(int(rng.integers(1, 12))):
            draw = depths.state(rng, size, samples, form)
            draw["target"] = target
            known = rng.random() < 0.3
            if known:
                known_values(rng, draw)
            tiles = rasterize(
                setup(
                    depths.triangles(rng, int(rng.integers(1, 8)), size, form), draw, params.edge
                ).records,
                params.edge,
            )[0]
            if rng.random() < 0.5 and len(
                tiles
            ):  # the same few places again and again, moved a little
                tiles = tiles[rng.integers(0, min(len(tiles), int(rng.integers(1, 7))), len(tiles))]
                further = np.minimum(
                    rng.integers(0, 1 << 12, len(tiles)), D24_MAX - tiles["zmax"].astype(np.int64)
                )
                for name, unit in (
                    ("z0", 256),
                    ("zmin", 1),
                    ("zmax", 1),
                ):  # together: a plane lies between its vertices
                    tiles[name] += (further * unit).astype(tiles[name].dtype)
            # Of a steep triangle the plane counts for nothing, whatever it looks like.
            tiles["steep"] |= rng.random(len(tiles)) < 0.1
            tiles["last"] = 1
            if rng.random() < 0.05:
                tiles["x"] += rng.integers(0, 2, len(tiles), dtype=np.uint16) * 900
            out.append(
                codec.pack(
                    depths.unread(
                        rng, depths.spoil(rng, draw) if n and rng.random() < 0.1 else draw
                    ),
                    payloads.DRAW_STATE,
                    WIDTH,
                )
            )
            for _ in range(int(rng.choice([0, 1, 2, 5]))):
                clear = depths.clear(rng, size, form, whole=rng.random() < 0.2)
                if known:
                    clear["stencil_value"] |= rng.integers(0, 2) << 7
                out.append(depths.clear_beat(rng, **clear))
            out.append(codec.pack(tiles, table, WIDTH))
            if not n or known or rng.random() < 0.1:
                out.append(codec.pack(contexts(rng, tiles), table, WIDTH))
            if rng.random() < 0.3:
                out.append(
                    scenes.control_beat(
                        payloads.FENCE,
                        Kind.FENCE,
                        WIDTH,
                        sequence=rng.integers(0, 1 << 32),
                        error=rng.choice([0, rng.integers(0, 8)]),
                        flush=rng.integers(0, 2),
                    )
                )
    return np.concatenate(out)


def known_values(rng: np.random.Generator, draw: np.void) -> None:
    """Make a draw leave stencil values that are known: zero, or a reference that is not small."""
    draw["stencil_test"] = 1
    draw["stencil_write"] = 255
    draw["stencil_ref"] |= 128
    operations = [StencilOp.KEEP, rng.choice([StencilOp.ZERO, StencilOp.REPLACE])]
    for face in ("front", "back"):
        for name in ("fail", "depth_fail", "pass"):
            draw[f"stencil_{face}_{name}"] = rng.choice(operations)


def contexts(rng: np.random.Generator, tiles: np.ndarray) -> np.ndarray:
    """Requests for contexts, of places of these tiles and of random ones.

    :mod:`fixfunc.tb.depth.loop` says how a tile stands for a request.
    """
    # Now and then more than wait for their answers.
    out = np.zeros(int(rng.choice((rng.integers(1, 40), 100), p=(0.9, 0.1))), tiles.dtype)
    for name in ("x", "y"):
        out[name] = (
            rng.choice(tiles[name], len(out)) if len(tiles) else rng.integers(0, 8, len(out))
        )
    out["full"] = rng.integers(0, 2)
    out["outcome"] = rng.integers(0, 4)
    depths = np.sort(rng.integers(0, 1 << payloads.HIZ_BITS, (2, len(out))), 0)
    values = np.sort(rng.integers(0, 256, (2, len(out))), 0)
    out["zmin"], out["zmax"], out["z0"] = *depths, values[0] | values[1] << 8
    return out


class Reference:
    """Golden HiZ, its reports in the order of the stamps."""

    def __init__(self, params: HizParams) -> None:
        self._params = params
        self._hiz = None
        self._contract = StageContract(depths.limits(params), begins=())
        self._reports = []
        self._applied = 0
        self.table = payloads.tile(params.edge)

    def replay(self, rows: np.ndarray, outputs: np.ndarray) -> dict[str, np.ndarray]:
        """Packed beats in, and out -> packed beats that should be out, by port."""
        stamps = (outputs[:, 0] >> np.uint64(STAMP.start)).astype(np.int64) & 0xFFF
        out = []
        answers = [np.zeros(0, dtype(payloads.context(4)))]
        at = 0
        for tiles, beat in scenes.draws(rows, self.table, dtype(self.table)):
            for tile in tiles:
                if not tile["last"]:
                    answers.append(self._answer(requested(tile)))
                    continue
                self._apply_reports(stamps[at] if at < len(stamps) else 0)
                out.append(self._tile(tile.reshape(1)))
                at += 1
            if len(beat):
                self._apply_reports(stamps[at] if at < len(stamps) else 0)
                out.append(self._pass(beat))
                at += 1
        expected = np.concatenate(out)
        expected[: len(stamps), 0] |= stamps[: len(expected)].astype(np.uint64) << np.uint64(
            STAMP.start
        )
        return {
            "o": expected,
            "saved": codec.pack(np.concatenate(answers), payloads.context(self._params.edge)),
        }

    def _apply_reports(self, stamp=None):
        """Reports up to the one that counts as ``stamp``, or all."""
        while self._reports and (stamp is None or self._applied % 4096 != stamp):
            self._hiz.feedback(*self._reports.pop(0))
            self._applied += 1

    def _answer(self, fields):
        """What is known of a tile, after what was has been put back.

        Nothing, where it must be refused.
        """
        self._apply_reports()
        request = np.zeros(1, dtype(payloads.context(self._params.edge)))
        for name, value in fields.items():
            request[name] = value
        if self._contract.accepted(request)[0]:
            if request["restore"]:
                self._hiz.restore(request)
            return self._hiz.save()[
                [int(request["y"][0]) * self._hiz._columns + int(request["x"][0])]
            ]
        request["restore"] = 1
        request["bound"] = self._hiz.bound if self._hiz else 0
        request["low"] = 0
        request["high"] = (1 << payloads.HIZ_BITS) - 1
        request["stencil_low"] = 0
        request["stencil_high"] = 255
        return request

    def _tile(self, tile):
        state = self._contract.state
        p = self._params
        outcome = Outcome.DROP
        note = 0
        tile = tile.copy()
        if self._contract.accepted(tile)[0]:
            drawn = drawn_bounds(tile, state, p.edge)
            serial = self._hiz.serial
            outcome = self._hiz.step(drawn)[0]
            x = int(tile["x"][0])
            y = int(tile["y"][0])
            place = (y >> 1) * -(-self._hiz._columns // 2) + (x >> 1)
            in_ram = place < p.entries // 4
            note = serial % 256 | in_ram << 8 | (place % (p.entries // 4)) << 9
            if outcome != Outcome.DROP and drawn["write"][0]:
                low = int(tile["z0"][0]) >> 16 & 0x3FFF
                cut = BITS[DepthFormat(state["depth_format"])] - payloads.HIZ_BITS
                self._reports.append(
                    (
                        tile["x"],
                        tile["y"],
                        [low << cut],
                        [(low | int(tile["dx"][0]) & 0x3FFF) << cut],
                        serial,
                    )
                )
        tile["outcome"] = outcome
        tile["note"] = note
        tile["slot"] = 0
        if outcome == Outcome.DROP:
            tile["mask"] = 0
            tile["full"] = 0
            tile["note"] = 0
        return codec.pack(tile, self.table, WIDTH)

    def _pass(self, beat):
        kind, record = scenes.control_record(beat)
        if kind == Kind.STATE:
            self._set_state(record[0])
        elif kind == Kind.CLEAR:
            self._clear(record[0])
        else:
            self._contract.fence.report(record[0], counts_samples=False)
        out = codec.pack(record, scenes.CONTROL[kind], WIDTH)
        out[0, 0] &= ~np.uint64(0xFFF << STAMP.start)
        return out

    def _clear(self, record):
        cleared = self._contract.clear(record)
        if cleared:
            values = cleared.values
            self._hiz.clear(values.get("depth"), cleared.rectangle, values.get("stencil"))

    def _set_state(self, state):
        """A draw state: nothing is known of another target."""
        preceding = self._contract.state
        self._contract.set_state(state)
        if preceding is None or preceding[TARGET_FIELDS] != state[TARGET_FIELDS]:
            old = self._hiz
            bits = BITS.get(int(state["depth_format"]), 24)
            self._hiz = HiZ(
                int(state["target_width"]),
                int(state["target_height"]),
                1 << int(state["samples"]),
                self._params.edge,
                bounds=self._params.bounds,
                entries=self._params.entries,
                bits=bits,
                counter_pitch=8,
            )
            self._hiz.serial = old.serial + 1 if old else 1
            if old:
                self._hiz._in_flight = old._in_flight


def replay(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: HizParams
) -> dict[str, np.ndarray]:
    """Expected tiles and control beats, with the stamps of the outputs; answers to requests.

    A stamp is the number of reports that had counted.
    """
    return Reference(params).replay(rows, outputs["o"])


def describe(row: np.ndarray, params: HizParams) -> str:
    return scenes.describe(row, payloads.tile(params.edge))


class HizBench(StreamBench):
    stem = "hiz"
    ports = "o", "saved"


# plan: hiz-12
@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_are_judged(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = HizBench(dut)
    await bench.run(requests(bench.rng, 80, bench.params), source, sink)
