# SPDX-License-Identifier: BSD-2-Clause
"""Textures of the texture unit.

stored.py         textures as memory has them; samplers as fields
texture_rules.py  what textures there are, and where they may lie
"""
