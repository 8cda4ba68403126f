# SPDX-License-Identifier: BSD-2-Clause
"""Presentation: what is drawn comes to a display.

swap_chain.py   a back buffer, PRESENT packets, and the host's wait for a frame's end
"""
