# SPDX-License-Identifier: BSD-2-Clause
"""Numbers: products and quotients of the hardware, float32 of the models."""
