# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the primitives in ``rtl/lib``.

Each file has the primitives of the file of its name as ``CASES``: what to create, inputs clock by
clock with what its golden model gives for them, bins that these inputs must hit, and an example for
the waveform on its page. Folders are as in ``rtl/lib``. ``tb/bench/clocked.py`` runs a case; all
cases are one :class:`~fixfunc.tb.lib.harness.Harness`, so that each simulator is built once.
``python -m fixfunc.tb.lib.waveform`` draws the waveforms of ``docs/lib`` from what is simulated.
"""
