# SPDX-License-Identifier: BSD-2-Clause
"""Output merger: a shader's colours meet what a target holds, in any format that is drawn to."""

import numpy as np

from fixfunc.models.output.blend import Blend, blend, blend_floats
from fixfunc.models.output.formats import (
    ColourFormat,
    colour_format,
    integers,
    load,
    masked,
    quantise,
    store,
)
from fixfunc.models.payload import enumerated
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp

INTEGERS = ("UINT", "SINT")


def merge(
    new: np.ndarray,
    old: np.ndarray,
    form: Format,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
    threshold: np.ndarray | None = None,
) -> np.ndarray:
    """What is stored of samples.

    Parameters
    ----------
    new : ndarray of float32, or of int32 or uint32 for formats of integers, shape (n, 4)
        A shader's colours.
    old : ndarray of uint8, shape (n, bytes)
        What is stored.
    form : Format
        Of the target.
    state : Blend
    constant : ndarray of float32, shape (4,), optional
        Blend constant.
    second : ndarray of the type of ``new``, shape (n, 4), optional
        A shader's second colour.
    threshold : ndarray of int, shape (n,), optional
        From :func:`fixfunc.models.output.formats.thresholds`, of a target that is dithered.

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
        UNORM and SNORM: what is blended is cut to the format's range, and has 20 bits or more
        whatever the target has; sums are exact, rounded once. sRGB is blended as linear colours.
        Floats: by float32, cut to the format at the end. Integers: cut. Channels that are not
        written keep their bits, whatever these mean [fs 17.1].

    Raises
    ------
    InputError
        A format that is no target's, colours of another kind than the target's, blending of
        integers, a logic operation of anything but UNORM and UINT.

    Source: [fs 17, 19.1.4], numerics: output.
    """
    colours = colour_format(form)
    check_kind(new.dtype, form)
    check(state, form)
    steps = colours.steps if state.enable and not state.logic else 1
    source = taken(new, colours, threshold, steps)
    other = None if second is None else taken(second, colours, None, steps)
    return merge_channels(source, old, colours, state, constant, other, steps)


def taken(
    values: np.ndarray,
    form: ColourFormat,
    threshold: np.ndarray | None = None,
    steps: int | np.ndarray = 1,
) -> np.ndarray:
    """A shader's colours as :func:`merge_channels` takes them.

    Parameters are those of :func:`fixfunc.models.output.formats.quantise`, colours those of
    :func:`merge`: int64, shape (n, 4); of floats float32, as they are.
    """
    if form.kind == "FLOAT":
        return np.asarray(values, np.float32)
    if form.kind in INTEGERS:
        return integers(values, form)
    return quantise(values, form, threshold, steps)


def merge_channels(
    new: np.ndarray,
    old: np.ndarray,
    form: ColourFormat,
    state: Blend,
    constant: np.ndarray | None = None,
    second: np.ndarray | None = None,
    steps: int | np.ndarray = 1,
) -> np.ndarray:
    """What is stored of samples whose colours are channels as a blender takes them.

    Parameters
    ----------
    new, second : ndarray of int64, shape (n, 4), or of float32
        From :func:`taken`, or from :func:`fixfunc.models.output.formats.load`.
    old, state, constant
        Those of :func:`merge`.
    form : ColourFormat
    steps : int, or ndarray of int64, shape (4,)
        Of ``new`` and ``second``, in a unit of a normalised target: 1 for the hardware's streams.

    Returns
    -------
    ndarray of uint8, shape (n, bytes)
    """
    kept = load(old, form)
    if form.kind == "FLOAT":
        made = blend_floats(new, kept, state, constant, second)
    else:
        signed = form.kind in ("SNORM", "SINT")
        made = blend(new, kept, state, constant, second, form.most, signed, steps)
    return masked(store(made, form), old, form, state.write)


def check_kind(dtype: np.dtype, form: Format) -> None:
    """Raise ``InputError`` for a shader's colours of another kind than a target's."""
    expected = INTEGERS if dtype.kind in "iu" else ("UNORM", "SNORM", "FLOAT")
    if colour_format(form).kind not in expected:
        raise InputError("colours of a shader", f"be of the kind of {form.name}", dtype.name)


def check(state: Blend, form: Format) -> None:
    """Raise ``InputError`` for blending that there is not, or that a format does not have.

    Source: [fs 17.5, 19.1.4].
    """
    kind = colour_format(form).kind
    if state.enable:
        for factor in (state.source, state.target, state.source_alpha, state.target_alpha):
            enumerated(BlendFactor, factor, "blend factor")
        for op in (state.op, state.op_alpha):
            enumerated(BlendOp, op, "blend operation")
    if state.enable and kind in INTEGERS:
        raise InputError("blend", f"be off for {form.name}", True)
    if state.logic and kind not in ("UNORM", "UINT"):
        raise InputError("logic operation", f"be off for {form.name}", state.logic_op)
