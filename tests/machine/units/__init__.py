# SPDX-License-Identifier: BSD-2-Clause
"""Shader units: batches of every stage, in any order."""
