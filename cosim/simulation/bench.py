# SPDX-License-Identifier: BSD-2-Clause
"""A block beside its golden model: packed beats through both, and what differs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from amaranth.lib import wiring

from fixfunc.cosim import codec
from fixfunc.cosim.catalogue import Block
from fixfunc.cosim.simulation.library import OPTIMISE
from fixfunc.cosim.simulation.volume import LATENCIES, NOWHERE, Memory, Run, Volume
from fixfunc.spec.payloads import TRANSFER


@dataclass(frozen=True)
class Bench(Block):
    """A block, and the module that wraps its golden model in packed beats.

    Parameters
    ----------
    stem, stage, place : str
        Those of the :class:`~fixfunc.cosim.catalogue.Block`.
    bench : module
        Its functions, of which the first two are needed, and either of the next two:

        - ``describe(row, params)``: a beat of port ``o`` in words.
        - ``requests(rng, count, params)``: random packed beats in; only where they are drawn.
        - ``expected(rows, params)``: packed beats out.
        - ``replay(rows, outputs, params)``: packed beats out, where the golden model has to know
          in which order things happened, and reads that from the outputs.
        - ``Harness(params)``: a component around the block, which is simulated in its place.
        - ``inputs(rows, params)``: beats by port, where there are several inputs.
        - ``own_ports(rows, outputs, params)``: beats in, and beats out, by ports of the block
          itself, where a harness has others.
        - ``memory(rows, params)``: bytes behind the AXI4 ports, compared in the end.
    """

    bench: ModuleType

    @classmethod
    def of(cls, block: Block, bench: ModuleType) -> "Bench":
        """A block with its module."""
        return cls(block.stem, block.stage, block.place, bench)

    def expected(self, rows: np.ndarray, config: str = "default") -> dict[str, np.ndarray]:
        """Packed beats out of the golden model for packed beats in, by port."""
        return codec.by_port(self.bench.expected(rows, self.parameters(config)))

    def differences(
        self,
        outputs: dict[str, np.ndarray],
        expected: dict[str, np.ndarray],
        config: str = "default",
    ) -> tuple[int, str | None]:
        """How many beats differ from the expected ones, and the first of them in words, or None.

        Parameters
        ----------
        outputs, expected : dict of ndarray of uint64
            Packed beats, by port.
        """
        count = 0
        first = None
        for port, golden in expected.items():
            actual = outputs[port]
            both = min(len(outputs[port]), len(golden))
            differ = np.flatnonzero((actual[:both] != golden[:both]).any(1))
            count += len(differ) + abs(len(actual) - len(golden))
            if first is None and len(differ):
                n = differ[0]
                words = [
                    self.bench.describe(rows[n], self.parameters(config))
                    if port == "o"
                    else codec.to_hex(rows[n])
                    for rows in (actual, golden)
                ]
                first = "{}: beat {}\n  got      {}\n  expected {}".format(port, n, *words)
            elif first is None and len(actual) != len(golden):
                first = f"{port}: {len(actual)} beats, expected {len(golden)}"
        return count, first

    def simulated(self, config: str = "default") -> wiring.Component:
        """The component that is simulated: the block, or the harness around it."""
        if hasattr(self.bench, "Harness"):
            return self.bench.Harness(self.parameters(config))
        return self.create(config)

    def simulated_verilog(self, config: str = "default") -> Path:
        """Path of the SystemVerilog of :meth:`simulated`, elaborated once, then kept."""
        if hasattr(self.bench, "Harness"):
            return self.generated(self.simulated(config), config, "harness")
        return self.verilog(config)

    def volume(
        self, config: str = "default", optimise: str = OPTIMISE, traced: bool = False
    ) -> Volume:
        """:meth:`simulated`, Verilated.

        Parameters
        ----------
        config : str
        optimise : str
            Level of the C++ compiler.
        traced : bool
            Waves can be written.
        """
        return Volume(
            self.simulated(config),
            self.stem,
            self.simulated_verilog(config).read_text(),
            optimise,
            traced=traced,
        )

    def run(
        self,
        volume: Volume,
        rows: np.ndarray,
        room: int,
        config: str = "default",
        paces: tuple[str, str] = ("full", "full"),
        seed: int = 0,
        behaviour: Mapping[str, Any] = {},
        **more: Any,
    ) -> Run:
        """Send packed beats through a Verilated component, with memory behind it if it has ports.

        ``memory`` of the outputs is what memory holds in the end, as rows of a transfer. It has
        ``behaviour``, fields of :class:`~fixfunc.cosim.simulation.volume.Memory` by name, and for
        the rest the latency that ``seed`` chooses. ``more`` are other parameters of
        :meth:`~fixfunc.cosim.simulation.volume.Volume.run`.
        """
        memory = None
        if hasattr(self.bench, "memory"):
            memory = Memory(
                self.bench.memory(rows, self.parameters(config)), LATENCIES[seed % len(LATENCIES)]
            )
            if hasattr(self.bench, "unreadable"):
                byte = self.bench.unreadable(rows)
                memory = memory._replace(faults=(NOWHERE if byte is None else byte, NOWHERE))
            memory = memory._replace(**behaviour)
        inputs = (
            self.bench.inputs(rows, self.parameters(config))
            if hasattr(self.bench, "inputs")
            else {"i": rows}
        )
        run = volume.run(inputs, room, paces, seed, memory=memory, **more)
        if memory:
            run.outputs["memory"] = memory.data.view(np.uint64).reshape(-1, TRANSFER // 64)
        return run

    def compare(
        self,
        volume: Volume,
        rows: np.ndarray,
        config: str = "default",
        paces: tuple[str, str] = ("full", "full"),
        seed: int = 0,
        behaviour: Mapping[str, Any] = {},
        **limits: int,
    ) -> tuple[Run, dict[str, np.ndarray], int, str | None]:
        """Send packed beats through a Verilated component and through the golden model.

        Returns
        -------
        run : fixfunc.cosim.simulation.volume.Run
        expected : dict of ndarray of uint64
            Packed beats, by port.
        count : int
            Beats that differ, and transfers that memory does not have.
        first : str, optional
            The first of them in words.
        """
        replay = getattr(self.bench, "replay", None)
        expected = {"o": rows} if replay else self.expected(rows, config)
        room = 2 * max(map(len, expected.values())) + 65536
        run = self.run(volume, rows, room, config, paces, seed, behaviour, **limits)
        if replay:
            expected = codec.by_port(replay(rows, run.outputs, self.parameters(config)))
        mismatches, first = self.differences(run.outputs, expected, config)
        if len(run.outside):
            first = first or f"memory: there is no transfer at {run.outside[0]:#x}"
        return run, expected, mismatches + len(run.outside), first
