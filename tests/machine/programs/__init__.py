# SPDX-License-Identifier: BSD-2-Clause
"""Programs as people write them, through device and context, each with an oracle of its own.

test_shadows.py        a shadow map without depth clip, shadow volumes around the camera (llvmpipe)
test_transparency.py   lists by pixel, sorted in a second pass (exact, whatever the order)
test_terrain.py        patches that meet with any factors (each pixel is covered once)
test_instances.py      instances whose buffers step at rates of their own (integers)
test_deferred.py       four targets and light from them (what one pass draws, and llvmpipe)
test_samples.py        a shader for each sample, and a resolve of its own (rationals)
test_reflections.py    a cube that is drawn, then reflected (the world that it shows)
test_particles.py      particles by stream output and draw_auto (float32, one by one)
test_culling.py        boxes behind predicates, wireframes and lines (the picture without them)
"""
