# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the pixel stage."""
