# SPDX-License-Identifier: BSD-2-Clause
"""Golden models as packed beats, for the blocks that take part in a frame.

top.py               the machine behind the top's probes
probed_top.py        harness: the top with its probes
sampled_top.py       the same, and its stall counters over time
domain_matching.py   points of patches
vertex_users.py      harness: domain matching with users of its vertices
block_decode.py      blocks of textures
texture_cache.py     shape of the golden texture cache
"""
