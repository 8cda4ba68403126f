# SPDX-License-Identifier: BSD-2-Clause
"""The page of a frame, whatever kind of frame it is: one HTML file that needs nothing else.

capture.py    listens to the golden machine: draws, pictures, maps, history
history.py    what every stage decided about each pixel of each triangle
maps.py       numbers of tiles, pixels and quads
overlays.py   maps as colours, with legends
words.py      states in words
embedding.py  arrays and pictures as text
page.py       all of it as a page: page.html.in, and a script a part of it
"""
