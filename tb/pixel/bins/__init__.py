# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the pixel stage: see :mod:`fixfunc.tb.coverage`.

quad_dispatch.py
interpolator.py
texture_stage.py
"""
