# SPDX-License-Identifier: BSD-2-Clause
"""Output: colours of a target.

colour_write.py   quads of what passed; colours blended, and kept in memory behind a cache
blend.py          blending of 8-bit colours: all factors, operations and logic operations
formats.py        from a shader's channels to bytes
copies.py         clears, copies, resolves and smaller levels of textures in memory
"""
