# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the pixel stage.

quad_dispatch.py
interpolator.py
texture_stage.py
bins/
"""
