# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the primitives of ``rtl/lib``, each for all time.

skid_buffer.py  skid buffer, and a pipeline that one enable stops
"""
