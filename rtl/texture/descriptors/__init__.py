# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors: textures and samplers by number, from memory.

descriptor_pool.py  block: reads descriptors once, keeps them, refuses illegal ones
texture_check.py    sizes, formats, modes, and where levels lie
"""
