# SPDX-License-Identifier: BSD-2-Clause
"""The renderer: triangles in order, pixels, samples.

Source: docs/pixel/pixel_stage.md, docs/machine/machine.md, docs/depth/depth_test.md; [fs 16, 17].
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, LogicOp, StencilOp
from tests.oracles import naive
from tests.oracles.naive_frame import attributes, blending, depths, float32, formats
from tests.oracles.naive_frame.scene import SIZE, Frame
from tests.oracles.naive_frame.triangles import Plane, box, set_up

TILE = {1: (8, 8), 2: (8, 4), 4: (4, 4), 8: (4, 2)}  # pixels of a tile, by samples


@dataclass
class _Result:
    """What a pixel shader put out."""

    colours: list
    discarded: bool
    depth: float | None
    coverage: int | None


class Picture:
    """Targets of a frame, a value a sample, by [row][column][sample].

    ``reached`` counts what samples met, by names.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.reached: Counter[str] = Counter()
        self.depth = self.stencil = None
        if frame.depth is not None:
            self.depth = _filled(frame, depths.encoded(frame.clear_depth, frame.depth))
            self.stencil = _filled(frame, frame.clear_stencil)
        self.colours = []
        for form, colour in zip(frame.colours, frame.clear_colours, strict=True):
            if formats.channels(form).kind == "UINT":
                values = [max(0, int(value)) for value in colour]
            else:
                values = formats.source(form, colour)
            self.colours.append(_filled(frame, formats.to_store(form, values)))

    def colour_bytes(self, target: int) -> np.ndarray:
        """Bytes of a colour target: uint8, shape (height, width, samples, bytes)."""
        form = self._frame.colours[target]
        return _bytes(self.colours[target], lambda stored: formats.texel(form, stored))

    def depth_bytes(self) -> np.ndarray:
        """Bytes of the depth target: uint8, shape (height, width, samples, bytes)."""
        form = self._frame.depth
        rows = [
            [list(zip(*pixel, strict=True)) for pixel in zip(*row, strict=True)]
            for row in zip(self.depth, self.stencil, strict=True)
        ]

        def texel(values):
            depth, stencil = values
            if form == Format.D16_UNORM:
                return depth.to_bytes(2, "little")
            if form == Format.D24_UNORM_S8_UINT:
                return (depth | stencil << 24).to_bytes(4, "little")
            if form == Format.D32_FLOAT:
                return depth.to_bytes(4, "little")
            return depth.to_bytes(4, "little") + bytes([stencil, 0, 0, 0])

        return _bytes(rows, texel)


def _filled(frame, value):
    return [[[value] * frame.samples for _ in range(SIZE)] for _ in range(SIZE)]


def _bytes(rows, texel):
    return np.array(
        [[[list(texel(value)) for value in pixel] for pixel in row] for row in rows], np.uint8
    )


def render(frame: Frame) -> Picture:
    """Draw a frame."""
    picture = Picture(frame)
    picture.reached[f"{frame.samples} samples"] += 1
    for draw in frame.draws:
        for corners in draw.triangles:
            for triangle, what in set_up(corners, draw, frame.depth):
                picture.reached[what] += 1
                if triangle is not None:
                    _Drawing(frame, draw, triangle, picture).run()
    return picture


class _Drawing:
    """One triangle."""

    def __init__(self, frame, draw, triangle, picture):
        self.frame = frame
        self.draw = draw
        self.triangle = triangle
        self.picture = picture
        self.reached = picture.reached
        self.offsets = naive.POSITIONS[frame.samples]
        self.plane = Plane(triangle)
        self.bias = 0
        if frame.depth is not None:
            self.bias = depths.bias(draw, self.plane, triangle, frame.depth)
        self.tests = {
            "depth_test": draw.depth_test and frame.depth is not None,
            "depth_write": draw.depth_write,
            "depth_compare": draw.depth_func,
            "stencil_test": draw.stencil_test and depths.has_stencil(frame.depth),
            "stencil_read": draw.stencil_read,
            "stencil_write": draw.stencil_write,
            "stencil_ref": draw.stencil_ref,
        }
        for name, face in (("front", draw.front), ("back", draw.back)):
            self.tests[f"stencil_{name}_func"] = face.func
            self.tests[f"stencil_{name}_fail"] = face.fail
            self.tests[f"stencil_{name}_depth_fail"] = face.depth_fail
            self.tests[f"stencil_{name}_pass"] = face.pass_

    def run(self):
        columns, rows = box(self.triangle, self.draw)
        for row in rows:
            for column in columns:
                covered = [
                    sample
                    for sample, (dx, dy) in enumerate(self.offsets)
                    if self.draw.sample_mask >> sample & 1
                    and naive.covered(
                        self.triangle.corners,
                        256 * column + 128 + 16 * dx,
                        256 * row + 128 + 16 * dy,
                    )
                ]
                if covered:
                    whole = len(covered) == len(self.offsets)
                    self.reached["pixel whole" if whole else "pixel in part"] += 1
                    self.pixel(column, row, covered)

    def pixel(self, x, y, covered):
        """Samples of a pixel that are covered."""
        tested = {}
        if self.draw.shader.early:
            tested = {s: self.test(x, y, s, None) for s in covered}
        result = None
        for sample in covered:
            if result is None or self.draw.shader.by_sample:
                result = self.shaded(x, y, sample, covered)
            lives, why = self.lives(sample, result)
            self.reached[f"{'early' if tested else 'late'} {why}"] += 1
            if sample in tested:
                passed = tested[sample]
            else:
                passed = lives and self.test(x, y, sample, result.depth)
            if lives and passed:
                self.write(x, y, sample, result.colours)

    def lives(self, sample, result):
        """Whether a shader left a sample, and why, or why not."""
        if result.discarded:
            return False, "discarded"
        if result.coverage is not None:
            lives = bool(result.coverage >> sample & 1)
            return lives, "in coverage" if lives else "out of coverage"
        if self.draw.alpha_to_coverage:
            alpha = result.colours[0][3]
            share = 0 if math.isnan(alpha) else Fraction(min(max(alpha, 0), 1))
            lives = sample < math.floor(share * self.frame.samples + Fraction(1, 2))
            return lives, "in alpha" if lives else "out of alpha"
        return True, "kept"

    def plane_depth(self, x, y, offset):
        """The triangle's depth, biased, as it is stored, not cut to the viewport's range."""
        value = self.plane.at(x, y, offset, TILE[self.frame.samples]) + (self.bias << 4)
        return depths.stored(value, self.triangle, self.frame.depth)

    def test(self, x, y, sample, depth):
        """Test and write depth and stencil value of a sample; whether it passed."""
        picture, form = self.picture, self.frame.depth
        if form is None:
            return True
        if depth is None:
            new = self.plane_depth(x, y, self.offsets[sample])
        else:
            new = depth
        cut = depths.in_range(new, self.draw, form)
        self.reached["depth in range" if new == cut else "depth cut to the range"] += 1
        face = "front" if self.triangle.is_front else "back"
        old = picture.depth[y][x][sample], picture.stencil[y][x][sample]
        passed, *stored = naive.tested(self.tests, face, cut, *old)
        picture.depth[y][x][sample], picture.stencil[y][x][sample] = stored
        self.note(face, cut, old)
        return passed

    def note(self, face, new, old):
        """Count what a test did."""
        tests = self.tests
        self.reached[f"{self.frame.depth.name} tested"] += 1
        depth_passes = True
        if tests["depth_test"]:
            depth_passes = naive.compare(tests["depth_compare"], new, old[0])
            name = Compare(tests["depth_compare"]).name
            self.reached[f"depth {name} {'passed' if depth_passes else 'failed'}"] += 1
            if new == old[0]:
                self.reached[f"depth {name} of equals"] += 1
        if tests["stencil_test"]:
            function = Compare(tests[f"stencil_{face}_func"])
            read = tests["stencil_read"]
            passes = naive.compare(function, tests["stencil_ref"] & read, old[1] & read)
            self.reached[f"stencil {function.name} {'passed' if passes else 'failed'}"] += 1
            name = "fail" if not passes else "pass" if depth_passes else "depth_fail"
            operation = StencilOp(tests[f"stencil_{face}_{name}"]).name
            self.reached[f"{face} {name} {operation}"] += 1

    def place(self, where, sample, covered):
        """An offset within a pixel, 1/16 pixel."""
        if where == "sample":
            return self.offsets[sample]
        if where == "centroid" and len(covered) < self.frame.samples:
            return self.offsets[covered[0]]
        return 0, 0

    def shaded(self, x, y, sample, covered):
        """What the shader puts out for a pixel, or for a sample."""
        shader = self.draw.shader
        values = []
        for number, mode in enumerate(shader.modes):
            where = mode.partition("_")[2]
            dx, dy = self.place(where, sample, covered)
            at = 256 * x + 128 + 16 * dx, 256 * y + 128 + 16 * dy
            values.append(attributes.attribute(self.triangle, number, mode, *at))
        *colours, control = values
        colours = [
            tuple(float32.bits_of(value) for value in colour) if self.is_integer(n) else colour
            for n, colour in enumerate(colours)
        ]
        depth = coverage = None
        if shader.depth and not shader.early and self.frame.depth is not None:
            depth = self.put_out(control[1], x, y, self.place(shader.position, sample, covered))
        if shader.coverage:
            coverage = int(min(max(control[2], 0.0), 1.0) * 256)
        return _Result(colours, shader.discards and control[0] < 0, depth, coverage)

    def is_integer(self, number):
        """A shader's colour is of integers."""
        forms = self.frame.colours
        return bool(forms) and formats.channels(forms[min(number, len(forms) - 1)]).kind == "UINT"

    def put_out(self, value, x, y, offset):
        """A depth of the shader as it is stored; no number counts as the least [fs 17.10]."""
        is_number = not math.isnan(value)
        value = min(max(value, 0.0), 1.0) if is_number else 0.0
        put_out = depths.encoded(value, self.frame.depth)
        if self.draw.shader.depth == "any":
            return put_out
        position = self.plane_depth(x, y, offset)
        if not is_number:  # of two the number is the greater, and the lesser
            return position
        return (max if self.draw.shader.depth == "greater_equal" else min)(put_out, position)

    def note_blend(self, form, state):
        """Count how a colour was mixed."""
        kind = formats.channels(form).kind
        self.reached[f"{form.name} written"] += 1
        if state.logic:
            self.reached[f"{kind} logic {LogicOp(state.logic_op).name}"] += 1
        if not state.enable:
            return
        for name, its in (("colour", state.op), ("alpha", state.op_alpha)):
            self.reached[f"{kind} {name} {BlendOp(its).name}"] += 1
        for name in ("source", "target", "source_alpha", "target_alpha"):
            self.reached[f"{name} {BlendFactor(getattr(state, name)).name}"] += 1

    def write(self, x, y, sample, colours):
        """Colours of a sample."""
        for n, form in enumerate(self.frame.colours):
            state = self.draw.targets[min(n, len(self.draw.targets) - 1)]
            stored = self.picture.colours[n][y][x]
            self.note_blend(form, state)
            sources = [colours[n], *colours[1:2]]
            stored[sample] = blending.written(
                state, form, sources, self.draw.factor, stored[sample]
            )
