# SPDX-License-Identifier: BSD-2-Clause
"""Tests: truths of the models, oracles from outside, benches on simulators, rules of the house.

test_top.py                     the top; a folder a stage for its blocks, and one for each room
conftest.py, tiers.py           simulators and oracle; what make test runs, and make qualify
bench.py, volume.py             a block's bench, and its volume run, as a test; summary.py: a page
scenes.py, textures.py          what tests draw
oracles/                        Mesa's llvmpipe, imagecodecs, exact integers
"""
