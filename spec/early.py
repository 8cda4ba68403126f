# SPDX-License-Identifier: BSD-2-Clause
"""The four early permissions of a draw, and what withdraws them."""

from fixfunc.spec.state import Compare

PERMISSIONS = ("hiz_drop", "hiz_accept", "early_reject", "early_write")  # fields of the draw state

# What a draw does -> the permissions that it has [fs 15.4, trip 7]. A draw that does several of
# these has the permissions that all of them have.
PERMITTED = {
    "plain": ("hiz_drop", "hiz_accept", "early_reject", "early_write"),
    "discard": (
        "hiz_drop",
        "early_reject",
    ),  # also alpha test and alpha to coverage: what passes may not be written
    "depth_output": (),
    "depth_greater_equal": ("hiz_drop",),  # the shader moves depths in one direction alone
    "depth_less_equal": ("hiz_drop",),
    "uav_writes": (),  # the shader must run wherever the triangle is, unless early tests are forced
}

# Directions of conservative depth [fs 16.9.3] -> fields of the draw state.
MOVED = {
    "depth_greater_equal": "depth_raised",
    "depth_less_equal": "depth_lowered",
}
# Functions under which depths that move permit no drop: neither side of the plane is safe.
UNSAFE = Compare.EQUAL, Compare.NOT_EQUAL, Compare.ALWAYS
