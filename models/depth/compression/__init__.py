# SPDX-License-Identifier: BSD-2-Clause
"""Parts of depth compression.

anchor.py   a depth, slopes to two neighbours, and differences from that plane
block.py    coding of blocks of 4 by 4 as the documents have it, to compare with
"""
