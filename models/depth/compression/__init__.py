# SPDX-License-Identifier: BSD-2-Clause
"""Parts of depth compression: anchor coding of blocks, planes of tiles."""
