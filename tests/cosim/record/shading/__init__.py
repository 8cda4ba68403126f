# SPDX-License-Identifier: BSD-2-Clause
"""What fragments of recorded frames are made of: varyings, textures, samplers; draws shaded."""
