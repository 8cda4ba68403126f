# SPDX-License-Identifier: BSD-2-Clause
"""Blocks whose texels belong to subsets.

bc6h.py      halves
bc7.py       bytes
subsets.py   partitions, anchors and weights of both
"""
