# SPDX-License-Identifier: BSD-2-Clause
"""The four early permissions of a draw, and what withdraws them."""

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
    "conservative_depth": ("hiz_drop",),  # the shader moves depths only away from what passes
    "uav_writes": (),  # the shader must run wherever the triangle is, unless early tests are forced
}
