# SPDX-License-Identifier: BSD-2-Clause
"""Tiles on chip, coded in memory: depths, stencil values or colours.

tile_cache.py       the block: joins all parts
sequencer.py        clears and flushes between the requests for tiles
tag_array.py        which tile is in which slot; hits, misses and victims
miss_scheduler.py   modes of tiles that come and go; no tile passes its own write-back
command_queue.py    slot commands wait for memory; an interlock keeps EVICTs behind writes
mode_cache.py       modes on chip; mode_directory.py which lines of them, and their moves
refill.py           reads tiles and lines
write_back.py       writes tiles and lines, and waits until memory has them
victims/            codes of tiles that have left, for those that come back
raw_codec.py        stencil values and colours as they lie in memory
traffic.py          counts; layouts.py: what the parts hand to one another

A request meets the tags; what it misses is scheduled; its slot command follows when memory has
answered. Evicted tiles pass the codec and the write buffer. The codec of depths is
``rtl/depth/compression/plane_codec.py``.
"""
