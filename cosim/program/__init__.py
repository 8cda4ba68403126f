# SPDX-License-Identifier: BSD-2-Clause
"""Programs on device and context, drawn by the hardware.

recording.py  what a program asks of its targets
packets.py    the same as a command stream of the top
hardware.py   the hardware executes it, and everything is compared
"""
