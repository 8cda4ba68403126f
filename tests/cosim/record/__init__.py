# SPDX-License-Identifier: BSD-2-Clause
"""Frames of OpenGL programs: recorded, read, drawn."""
