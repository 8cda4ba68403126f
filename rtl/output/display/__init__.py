# SPDX-License-Identifier: BSD-2-Clause
"""Display: buffers in memory become the lines of a screen; tiles that did not change stay there.

scan_out.py      the block: what is scanned out, and when
buffer_turns.py  single, double and triple buffering
tile_fetch.py    a frame's tiles and its mode table are read
tile_pixels.py   tiles decoded: red, green and blue
line_store.py    two rows of tiles on chip, scanned line by line
dither.py        pixels of 5, 6 and 5 bits

transaction_elimination.py  the block: which tiles have changed
signature.py                CRC-64, 32 bytes a clock
signature_line.py           four signatures on chip, of a table in memory

Data flows from tile_fetch.py down to line_store.py.
"""
