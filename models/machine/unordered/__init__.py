# SPDX-License-Identifier: BSD-2-Clause
"""Unordered access: what it does to memory.

images.py      texels that are loaded and stored
atomics.py     words that are changed, lane by lane
structures.py  structured buffers with a counter
"""
