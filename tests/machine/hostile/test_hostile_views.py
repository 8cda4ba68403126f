# SPDX-License-Identifier: BSD-2-Clause
"""Views of which some fields are others: whoever reads one ends, or raises a typed error."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.packets import RING, STATES
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.textures.sampled import texture_of
from fixfunc.models.machine.unordered import images
from fixfunc.models.memory import copies
from fixfunc.models.output.display.display import Display
from fixfunc.models.payload import dtype
from fixfunc.spec.descriptors import VIEW, Dimension
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import FIELDS, RingOp
from tests.tiers import QUALIFY, SEED

DRAWN, READ, WRITTEN = Bind.RENDER_TARGET, Bind.SHADER_RESOURCE, Bind.UNORDERED_ACCESS
BITS = {field.name: field.bits for field in VIEW}
BEGINS = {"x0", "y0", "z0", "x", "y", "z"}
ENDS = {"x1": 8, "y1": 8, "z1": 1, "form": Format.R8G8B8A8_UNORM}


def views():
    """A device, and views of resources of every kind: records of VIEW."""
    device = Device(RING + STATES + (1 << 20))
    flat = device.create_texture2d(Format.R8G8B8A8_UNORM, 8, 8, 2, 2, bind=DRAWN | READ)
    depths = device.create_texture2d(Format.D24_UNORM_S8_UINT, 8, 8, bind=Bind.DEPTH_STENCIL)
    several = device.create_texture2d(Format.R8G8B8A8_UNORM, 8, 8, sample_count=4, bind=DRAWN)
    volume = device.create_texture3d(Format.R16G16_FLOAT, 8, 8, 4, 2, bind=DRAWN | READ)
    cube = device.create_texture2d(Format.BC1_UNORM, 8, 8, 2, 6, cube=True)
    line = device.create_texture1d(Format.R32_UINT, 8, 2, 2, bind=WRITTEN)
    words = device.create_buffer(96, WRITTEN)
    structures = device.create_buffer(96, WRITTEN, stride=8)
    found = [
        device.create_render_target_view(flat, layer_count=1),
        device.create_depth_stencil_view(depths),
        device.create_render_target_view(several),
        device.create_render_target_view(volume),
        device.create_shader_resource_view(cube, cube=True),
        device.create_unordered_access_view(line, layer_count=1),
        device.create_unordered_access_view(words),
        device.create_unordered_access_view(words, Format.R8G8B8A8_UNORM),
        device.create_unordered_access_view(structures),
    ]
    return device, [piece(view.encode(), VIEW) for view in found]


def other(rng, bits):
    """A number of so many bits: little, great, or any."""
    some = 0, 1, 2, 3, rng.integers(1 << min(bits, 8)), rng.integers(1 << bits), (1 << bits) - 1
    return int(rng.choice(some)) & (1 << bits) - 1


def changed(rng, view):
    """Up to three fields are others."""
    view = view.copy()
    for name in rng.choice(view.dtype.names, rng.integers(0, 4), replace=False):
        view[name] = other(rng, BITS[name])
    return view


def packet(rng, op):
    """Half of all are of the whole of a texture of 8 by 8 texels."""
    out = np.zeros(1, dtype(FIELDS[op]))[0]
    is_plain = rng.random() < 0.5
    for field in FIELDS[op]:
        out[field.name] = other(rng, field.bits)
        if is_plain and (field.name in BEGINS or "level" in field.name or "layer" in field.name):
            out[field.name] = 0
        if is_plain and field.name in ENDS:
            out[field.name] = ENDS[field.name]
    return out


def image(rng, memory, view):
    """Texels within and outside of a view for unordered access."""
    found = images.image_at(memory, view)
    places = rng.integers(-1, 9, (16, found.axes) if found.axes else 16)
    _, offsets = found.offsets(places, rng.integers(-1, 3, 16), np.ones(16, bool))
    assert (offsets >= 0).all() and (offsets < len(found.data)).all()


READERS = {
    "clear": lambda rng, memory, a, _: copies.clear(memory, a, packet(rng, RingOp.CLEAR)),
    "copy": lambda rng, memory, a, b: copies.copy(memory, a, b, packet(rng, RingOp.COPY)),
    "resolve": lambda rng, memory, a, b: copies.resolve(memory, a, b, packet(rng, RingOp.RESOLVE)),
    "mips": lambda _rng, memory, a, _: copies.mips(memory, a),
    "image": lambda rng, memory, a, _: image(rng, memory, a),
    "texture": lambda _rng, memory, a, _: texture_of(memory, a),
    "display": lambda _rng, memory, a, b: Display(memory, [a, b]).take(a),
}


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize("reader", READERS)
def test_fields_of_views_that_are_others(reader):
    rng = np.random.default_rng([SEED, list(READERS).index(reader)])
    device, plain = views()
    outcomes = set()
    for n in range(10000 if QUALIFY else 400):
        if n % 50 == 0:
            memory = device.memory.copy()
        first, second = (changed(rng, plain[k]) for k in rng.integers(0, len(plain), 2))
        second = changed(rng, first) if rng.random() < 0.5 else second
        try:
            READERS[reader](rng, memory, first, second)
        except InputError:
            outcomes.add("refused")
        else:
            outcomes.add("done")
    assert outcomes == {"refused", "done"}


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize("form", DEPTH_FORMATS, ids=lambda form: form.name)
def test_a_buffer_is_not_cleared_as_depths(form):
    device, plain = views()
    view = plain[7].copy()
    view["form"] = form
    for flags in ({}, {"depth": 1}, {"depth": 1, "stencil": 1}, {"integer": 1}):
        clear = np.zeros(1, dtype(FIELDS[RingOp.CLEAR]))[0]
        for name, value in flags.items():
            clear[name] = value
        text = f"format of a buffer must not be one of depths, not {form.name}"
        with pytest.raises(InputError, match=text):
            copies.clear(device.memory, view, clear)


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize(("number", "text"), [(1, "colours"), (6, "a texture"), (7, "a texture")])
def test_rectangles_are_of_colours_of_textures(number, text):
    device, plain = views()
    clear = np.zeros(1, dtype(FIELDS[RingOp.CLEAR]))[0]
    clear["rectangle"] = clear["depth"] = 1
    with pytest.raises(InputError, match=f"rectangle must be of {text}"):
        copies.clear(device.memory, plain[number], clear)


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize("coded", [0, 1])
def test_slices_are_those_of_a_volume(coded):
    """[fs 5.3.7]: a texture of another dimension has none, and a volume has no layers."""
    device, plain = views()
    flat, volume = plain[0].copy(), plain[3].copy()
    flat["coded"] = volume["coded"] = coded
    for dimension in set(Dimension) - {Dimension.TEXTURE3D}:
        volume["dimension"] = dimension
        with pytest.raises(InputError, match="dimension must be TEXTURE3D where there are slices"):
            copies.mips(device.memory, volume)
    flat["dimension"] = Dimension.TEXTURE3D
    with pytest.raises(InputError, match="and not where there are layers, not 3"):
        copies.mips(device.memory, flat)
