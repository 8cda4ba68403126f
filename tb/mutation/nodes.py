# SPDX-License-Identifier: BSD-2-Clause
"""Nodes of an elaborated component, which Amaranth 0.5 names nowhere in public.

A new version of Amaranth is held to this file alone.
"""

from amaranth import hdl

Assign = hdl._ast.Assign
Concat = hdl._ast.Concat
Operator = hdl._ast.Operator
Part = hdl._ast.Part
SignalDict = hdl._ast.SignalDict
SignalSet = hdl._ast.SignalSet
Slice = hdl._ast.Slice
Switch = hdl._ast.Switch
SwitchValue = hdl._ast.SwitchValue
NextState = hdl._dsl.FSMNextStatement
MemoryFragment = hdl._mem.MemoryInstance
FragmentTransformer = hdl._xfrm.FragmentTransformer
LHSMaskCollector = hdl._xfrm.LHSMaskCollector
StatementTransformer = hdl._xfrm.StatementTransformer
ValueTransformer = hdl._xfrm.ValueTransformer
