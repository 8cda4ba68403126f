# SPDX-License-Identifier: BSD-2-Clause
"""Programs on device and context, as packets of the top."""
