# SPDX-License-Identifier: BSD-2-Clause
"""What a program on device and context asks of its targets: clears, and lists of triangles."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import BackHalf, Work
from fixfunc.models.host import Device
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.draws import draw_fields, part_runs
from fixfunc.models.machine.front_half import Part
from fixfunc.models.machine.targets import Target, at_layer
from fixfunc.models.machine.tile_shading import TileShading
from fixfunc.models.memory.copies import clear_values
from fixfunc.models.output.formats import colour_format
from fixfunc.models.output.output_merger import parted
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import needs_second
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, Cull, DepthFormat

EDGE = 8  # samples along a tile's edge


class Cleared(NamedTuple):
    """A clear of a target."""

    target: tuple  # models.machine.targets.Target.key
    values: dict[str, int]  # depth, stencil, colour: as they are stored


class Wrote(NamedTuple):
    """A copy to a resource, or another change of it that is no draw."""

    address: int


class Shaded(NamedTuple):
    """All that a shader makes of a list of triangles, whatever is hidden."""

    keys: np.ndarray  # int64, shape (n,): triangle and place of each tile, ascending
    # uint32, shape (outputs, n, 8, 8): as they are stored; a second one where it is blended with
    colours: np.ndarray
    survivors: np.ndarray  # bool, shape (n, 8, 8): not discarded
    depths: np.ndarray | None  # uint32, shape (n, 8, 8): in place of the planes'
    fractions: np.ndarray  # uint32, shaped as colours: what they were rounded by


class Listed(NamedTuple):
    """A list of triangles."""

    draw: int  # its number in the program
    colour: Target | None
    depth: Target | None
    state: np.void  # spec.payloads.DRAW_STATE
    triangles: np.ndarray  # models.geometry.triangle_setup.TRIANGLE
    shaded: Shaded
    constant: np.ndarray  # float32, shape (4,): that colours are blended with


class Missing(NamedTuple):
    """A draw that the top cannot execute."""

    draw: int  # its number in the program
    what: str  # which state, or which stage, it lacks


def tile_keys(triangle: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """What tells a tile from the others of a list of triangles: int64, shape (n,)."""
    place = tiles["y"].astype(np.int64) << 16 | tiles["x"].astype(np.int64)
    return triangle.astype(np.int64) << 32 | place


class Recording:
    """Listens to a device's machine from now on.

    Every list of triangles is shaded as soon as it is drawn, since what a shader reads may change
    behind it.

    Parameters
    ----------
    device : Device

    Attributes
    ----------
    calls : list of Cleared, Wrote, Listed or Missing
        In order. Draws without a triangle, and such as could have no effect, are left out.
    draws : int
        Draws so far.
    """

    def __init__(self, device: Device) -> None:
        self.calls: list[Cleared | Wrote | Listed | Missing] = []
        self.draws = 0
        device.machine.watch = self

    def begin(self) -> None:
        """A draw begins; :meth:`draw` follows for each of its parts."""
        self.draws += 1

    def clear(self, view: np.void, packet: np.void) -> None:
        """What a view shows is cleared."""
        values = clear_values(view, packet)
        for layer in range(view["layer_count"]):
            words = {
                name: int.from_bytes(octets.tobytes(), "little") for name, octets in values.items()
            }
            self.calls.append(Cleared(Target(view, layer).key, words))

    def wrote(self, address: int) -> None:
        """A resource at an address is changed by what is no draw."""
        self.calls.append(Wrote(address))

    def draw(self, part: Part, back: BackState) -> None:
        """Triangles are drawn."""
        for run in part_runs(part, back):
            what = _lacks(part, back)
            if what:
                self.calls.append(Missing(self.draws - 1, what))
            else:
                self._list(part, run, back)

    def _list(self, part, run, back):
        number = int(part.viewport[run[0]])
        layer = int(part.layer[run[0]])
        targets = [at_layer(view, layer) for view in back.colours]
        depth = at_layer(back.depth, layer)
        fields, _ = draw_fields(back, number, targets, depth)
        if part.faces is not None and fields["depth_format"] == DepthFormat.D32F:
            self.calls.append(Missing(self.draws - 1, "units of depths by primitive, of D32F"))
            return
        colour = targets[0] if targets else None
        try:
            state = _with_colours(fields, colour, back)
        except InputError as error:
            self.calls.append(Missing(self.draws - 1, str(error)))
            return
        shaded = _shaded(part, run, back, state, colour)
        if shaded is None:
            self.calls.append(Missing(self.draws - 1, "discards behind an early test"))
            return
        if part.faces is not None:
            state["cull"] = Cull.NONE
        triangles = part.triangles[run]
        self.calls.append(
            Listed(self.draws - 1, colour, depth, state, triangles, shaded, back.factor)
        )


def _lacks(part, back):
    """What the top lacks for a draw, or an empty text."""
    views = [view for view in back.colours if view is not None]
    first = back.depth if back.depth is not None else next(iter(views), None)
    every = (1 << SAMPLE_COUNTS[0 if first is None else first["samples"]]) - 1
    # Setup culls what points, lines and wireframes are expanded to by its own winding, and biases
    # it by its own slope: both are turned off. Nothing else asks for a face but stencil values.
    by_face = "stencil_test", "bias_constant", "bias_slope"
    reasons = {
        "several targets of colours": len(views) > 1 or (views and back.colours[0] is None),
        "faces of points, lines and wireframes": part.faces is not None
        and any(back.draw.get(name) for name in by_face),
        "a sample mask": back.sample_mask & every != every,
        "unordered access": back.shader is not None and back.shader.unordered,
        "dithering": any(blend.dither for blend in back.blends),
    }
    return next((what for what, lacks in reasons.items() if lacks), "")


def _with_colours(fields, colour, back):
    """A draw state with what the colours ask for; what the top does not blend raises."""
    state = fields.copy()
    if colour is None or back.shader is None:
        state["colour_write"] = 0
        return state
    blend = back.blends[0]
    form = Format(int(colour.view["form"]))
    if colour_format(form).layout.size > 4:
        raise InputError("colour_format", "be one of 32 bits at most", form.name)
    values = {
        "blend_enable": blend.enable,
        "src_blend": blend.source,
        "dest_blend": blend.target,
        "blend_op": blend.op,
        "src_blend_alpha": blend.source_alpha,
        "dest_blend_alpha": blend.target_alpha,
        "blend_op_alpha": blend.op_alpha,
        "logic_op_enable": blend.logic,
        "logic_op": blend.logic_op,
        "colour_write": blend.write,
        "colour_format": form,
    }
    for name, value in values.items():
        state[name] = value
    return state


def _shaded(part, run, back, state, colour):
    """What a shader makes of all tiles of triangles; None, if the top could not take it."""
    faces = None if part.faces is None else part.faces[run]
    found = BackHalf(None, None).find(Work(part.triangles[run], state, faces))
    tiles = found.tiles
    shape = len(tiles), EDGE, EDGE
    keys = tile_keys(found.triangle, tiles)
    order = np.argsort(keys, kind="stable")
    outputs = 1 + needs_second(state)
    colours, fractions = np.zeros((2, outputs, *shape), np.uint32)
    kept = np.ones(shape, bool)
    depths = None
    if back.shader and len(tiles):
        shading = TileShading(part, back, tiles, run[found.triangle], state)
        made = shading.late(tiles, np.arange(len(tiles)))
        kept, depths = made.mask, made.depth
        if state["early_write"] and (~kept & unpack(tiles["mask"])).any():
            return None
        if colour is not None and shading.colours:
            form = Format(int(colour.view["form"]))
            for n, values in enumerate(shading.colours[:outputs]):
                colours[n], fractions[n] = _stored(values, form)
    return Shaded(
        keys[order],
        colours[:, order],
        kept[order],
        None if depths is None else depths[order],
        fractions[:, order],
    )


def _stored(values, form):
    """Colours of a shader as a format stores them, and fractions: uint32, without the last axis."""
    shape = values.shape[:-1]
    packed, fractions = parted(values.reshape(-1, 4), form)
    return packed.reshape(shape), fractions.reshape(shape)
