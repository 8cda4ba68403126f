# SPDX-License-Identifier: BSD-2-Clause
"""Output: colours of a target.

colour_write.py   quads of what passed; colours blended, and kept in memory behind a cache
"""
