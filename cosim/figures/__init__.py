# SPDX-License-Identifier: BSD-2-Clause
"""What the figures of a frame say, in words.

counters.py   every counter: group, words, unit, explanation; golden's values
bound.py      what no frame is faster than, and the sentence about it
roofline.py   the same as a chart; svg.py: charts as elements of a page
kept.py       results that are kept: frame.json and the picture beside it
compare.py    two of them: what differs, by weight; comparison.py: as a table and a page
"""
