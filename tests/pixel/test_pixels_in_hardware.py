# SPDX-License-Identifier: BSD-2-Clause
"""Frames whose colours the hardware interpolates: a shader asks the simulated blocks."""

import numpy as np
import pytest

from fixfunc import d3d11
from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.pixel.interpolator.interpolator import CONFIGS
from fixfunc.spec.pixels.interpolation import (
    ATTRIBUTE,
    COMPONENTS,
    CORNERS,
    QUAD_TO_SHADE,
    How,
    InterpolatorKind,
    Where,
    attribute_quad,
)
from fixfunc.spec.pixels.texture_stage import (
    SHADED_QUAD,
    STAGE_QUAD,
    STAGE_STATE,
    StageKind,
    TextureOp,
)
from fixfunc.spec.points import QUAD
from fixfunc.spec.state import Compare
from fixfunc.tb.pixel import interpolator as bench
from tests import volume

BLOCK = "interpolator"
MODES = {
    "perspective": (How.PERSPECTIVE, Where.CENTRE),
    "perspective_centroid": (How.PERSPECTIVE, Where.CENTROID),
    "linear": (How.LINEAR, Where.CENTRE),
    "perspective_sample": (How.PERSPECTIVE, Where.SAMPLE),
    "constant": (How.CONSTANT, Where.CENTRE),
}
SIZE = 48
# x, y, w, and a colour. The fourth triangle goes through the near plane, and behind the eye.
TRIANGLES = [
    [(-0.9, -0.9, 1, 1, 0, 0), (0.9, -0.9, 1, 0, 1, 0), (0, 0.9, 1, 0, 0, 1)],
    [(-2, -3, 4, 0, 1, 1), (3, -2, 9, 1, 0, 1), (0, 1, 2, 1, 1, 0)],
    [(-0.5, 0.1, 1, 0.2, 0.4, 0.6), (-0.49, 0.12, 1, 1, 1, 1), (-0.5, 0.14, 1, 0, 0, 0)],
    [(-1, -0.4, 0.5, 1, 1, 1), (1, -0.4, 0.5, 0, 1, 0), (0.2, 0.5, -0.4, 1, 0, 0)],
]


def records(inputs):
    """Beats of the interpolator for quads that a shader takes: triangles in a row, their quads."""
    pixels = inputs.evaluator.pixels
    mode = inputs.evaluator.modes[0]
    out = []
    for n in range(len(inputs.x)):
        of = 4 * n
        corners = np.zeros(1, dtype(CORNERS))
        corners["kind"] = InterpolatorKind.CORNERS
        original = np.rint(pixels.original[of].astype(np.float64) * (1 << 24))
        for k in range(3):
            corners[f"x{k}"] = pixels.corners.x[of, k]
            corners[f"y{k}"] = pixels.corners.y[of, k]
            corners[f"rhw{k}"] = pixels.rhw[of, k : k + 1].view(np.uint32)[0]
            corners[f"u{k}"], corners[f"v{k}"] = original[k, 1:]
        corners["cut"] = (pixels.original[of] != np.eye(3)).any()
        corners["linear"] = MODES[mode][0] == How.LINEAR
        corners["perspective"] = MODES[mode][0] != How.LINEAR
        corners["sample_mask"] = inputs.evaluator.locations.sample_mask & 255
        attribute = np.zeros(1, dtype(ATTRIBUTE))
        attribute["kind"] = InterpolatorKind.ATTRIBUTE
        attribute["how"], attribute["where"] = MODES[mode]
        for k in range(3):
            for c, name in enumerate(COMPONENTS):
                attribute[f"{name}{k}"] = pixels.values[of, k, 0, c]
        quad = quad_of(inputs, n)
        for table, its in ((CORNERS, corners), (ATTRIBUTE, attribute), (QUAD_TO_SHADE, quad)):
            out.append(codec.pack(its, table, bench.BITS))
    return np.concatenate(out)


def quad_of(inputs, n):
    """A quad as a beat."""
    quad = np.zeros(1, dtype(QUAD_TO_SHADE))
    quad["kind"] = InterpolatorKind.QUAD
    quad["x"], quad["y"] = inputs.x[n, 0, 0], inputs.y[n, 0, 0]
    quad["samples"] = inputs.sample_count.bit_length() - 1
    its = inputs.evaluator.locations
    sample = int(its.quads.sample[n])
    quad["by_sample"], quad["sample"] = sample >= 0, max(sample, 0)
    for name, bits in (("covered", its.coverage[n]), ("mask", inputs.covered[n])):
        pixels = bits.reshape(4, -1)
        quad[name] = sum(
            int(bit) << 8 * pixel + s
            for pixel, row in enumerate(pixels)
            for s, bit in enumerate(row)
        )
    return quad


def interpolated(inputs):
    """The first attribute of each quad, by the hardware: uint32, shape (q, 2, 2, 4)."""
    table = attribute_quad(CONFIGS["tiny"].components)
    rows = volume.volume("interpolator", "tiny").run({"i": records(inputs)}, 1 << 16).outputs["o"]
    found = codec.unpack(rows, table, dtype(table)).reshape(len(inputs.x), 4)
    assert (found["end"] == [0, 0, 0, 1]).all()
    values = np.stack([found[f"p{pixel}_0"] for pixel in range(4)], 1)  # quad, pixel, component
    return values.reshape(len(inputs.x), 2, 2, 4).astype(np.uint32)


def shaded(inputs, values):
    """Colours by the texture stage: float32, shape (q, 2, 2, 4)."""
    state = np.zeros(1, dtype(STAGE_STATE))
    state["kind"], state["interpolated"] = StageKind.STATE, 1
    state["op"], state["alpha_test"] = TextureOp.NONE, Compare.ALWAYS
    quads = np.zeros(len(values), dtype(STAGE_QUAD))
    quads["kind"], quads["end"] = StageKind.QUAD, 1
    for n in range(len(values)):
        for f in QUAD:
            quads[f.name][n] = quad_of(inputs, n)[f.name][0]
    for pixel, its in enumerate(values.reshape(-1, 4, 4).swapaxes(0, 1)):
        for n in range(4):
            quads[f"p{pixel}_{n}"] = its[:, n]
    rows = [codec.pack(state, STAGE_STATE, sum(f.bits for f in STAGE_QUAD))]
    rows.append(codec.pack(quads, STAGE_QUAD))
    run = volume.volume("texture_stage", "tiny").run({"i": np.concatenate(rows)}, 1 << 16)
    found = codec.unpack(run.outputs["o"], SHADED_QUAD, dtype(SHADED_QUAD))
    assert (found["mask"] == quads["mask"]).all()
    colours = np.stack(
        [np.stack([found[f"c{pixel}_{n}"] for n in range(4)], -1) for pixel in range(4)], 1
    )
    return colours.astype(np.uint32).view(np.float32).reshape(-1, 2, 2, 4)


def draw(shader, samples=1):
    """The triangles, drawn by a pixel shader."""
    corners = [
        (x, y, w / 2 - 0.05, w, r, g, b, 1)
        for triangle in TRIANGLES
        for x, y, w, r, g, b in triangle
    ]
    floats = d3d11.Format.R32G32B32A32_FLOAT
    device = d3d11.Device()
    context = device.context
    target = device.create_texture2d(
        d3d11.Format.R8G8B8A8_UNORM, SIZE, SIZE, sample_count=samples, bind=d3d11.Bind.RENDER_TARGET
    )
    context.om.set_render_targets([device.create_render_target_view(target)])
    context.rs.set_viewports([d3d11.Viewport(width=SIZE, height=SIZE)])
    context.rs.set_state(d3d11.RasterizerState(cull=d3d11.Cull.NONE))
    layout = [d3d11.Element(0, floats), d3d11.Element(1, floats, offset=16)]
    context.ia.set_input_layout(device.create_input_layout(layout))
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=np.float32(corners))], [32])
    context.ia.set_primitive_topology(d3d11.Topology.TRIANGLE_LIST)
    context.vs.set_shader(
        device.create_vertex_shader(
            lambda waves, _: d3d11.VertexResults(waves.floats(0), waves.floats(1)[..., None, :])
        )
    )
    context.ps.set_shader(device.create_pixel_shader(shader))
    context.draw(len(corners))
    return context.read(target)


@pytest.mark.plan("interpolator-11")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("mode", MODES)
def test_a_frame_whose_colours_the_hardware_interpolates(mode, samples):
    """Every attribute, and the picture, are the golden machine's; some triangles are cut."""
    seen = []

    def hardware(inputs, _):
        values = interpolated(inputs)
        assert (values == inputs.attributes[..., 0, :]).all()
        cut = (inputs.evaluator.pixels.original[::4] != np.eye(3)).any((1, 2))
        seen.append((len(values), int(cut.sum())))
        return d3d11.PixelResults(shaded(inputs, values))

    golden = draw(
        d3d11.PixelShader(lambda its, _: d3d11.PixelResults(its.floats(0)), modes=[mode]), samples
    )
    found = draw(d3d11.PixelShader(hardware, modes=[mode]), samples)
    assert (found == golden).all()
    assert len(np.unique(golden.reshape(-1, 4), axis=0)) > (2 if mode == "constant" else 300)
    quads, cut = np.sum(seen, 0)
    assert quads > 300
    assert cut > 50
