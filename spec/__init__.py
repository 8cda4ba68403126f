# SPDX-License-Identifier: BSD-2-Clause
"""What both sides agree on: names, widths, encodings. No algorithms, no derived tables."""
