# SPDX-License-Identifier: BSD-2-Clause
"""Arrays and pictures as text of a page."""

import base64
import io
import json
import zlib
from typing import Any

import numpy as np
from PIL import Image

_TYPES = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "i4": "Int32Array"}
_TYPES |= {"f4": "Float32Array"}


def column(values: np.ndarray, differences: bool = False) -> dict[str, Any]:
    """An array as the page's script reads it: deflated, its bytes plane by plane.

    Parameters
    ----------
    values : ndarray of uint8, uint16, uint32, int32 or float32
    differences : bool
        Each of integers is kept as what it is more than the one before: smaller, where they grow.
    """
    flat = np.ascontiguousarray(values).ravel()
    kind = flat.dtype.str[1:]
    if differences:
        flat = np.diff(flat, prepend=flat.dtype.type(0))
    planes = flat.view(np.uint8).reshape(len(flat), flat.itemsize).T
    return {
        "type": _TYPES[kind],
        "differences": differences,
        "data": base64.b64encode(zlib.compress(planes.tobytes())).decode(),
    }


def png(picture: np.ndarray) -> str:
    """A picture, uint8 of shape (height, width, 3), as an address that holds it."""
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"


def script(data: Any) -> str:
    """JSON that no tag can end."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
