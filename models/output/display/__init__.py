# SPDX-License-Identifier: BSD-2-Clause
"""A display: buffers that are shown, and what comes to them.

display.py   frames come to buffers, buffers become lines
turns.py     whose turn it is: one, two or three buffers
"""
