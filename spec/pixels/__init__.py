# SPDX-License-Identifier: BSD-2-Clause
"""Payloads between quads and colours, as field tables: see :mod:`fixfunc.spec.payloads`.

interpolation.py  what goes into the interpolator, and comes out of it
pixel_state.py    how pixels are shaded where no shader is asked
texture_stage.py  the same of the texture stage, and its operations
"""
