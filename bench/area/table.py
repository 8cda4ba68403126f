# SPDX-License-Identifier: BSD-2-Clause
"""Figures of area and timing as text, and as a section of docs/bench.md."""

from collections import Counter
from typing import Any, NamedTuple

from bench.area.jobs import BY_PARTS
from fixfunc.tb import stamp

HEADINGS = ("block", "um2", "FF", "ns", "MHz", "memory bits", "places x bits")
GEOMETRIES = 8  # kinds of memories that a row names
BIT = (5, 20)  # um2 of a bit of memory: large macros, and small ones
RASTERIZERS = ("default", "single", "shared")
SETUP = "triangle_setup (default)"
RATED = ("tile_rasterizer", "triangle_setup")  # blocks that rates are of


class Machine(NamedTuple):
    """What a rate is divided by, and the rate."""

    name: str
    um2: float
    bits: int
    mhz: float
    pixels: float  # a clock
    triangles: float | None  # a clock, of 4x4 pixels

    def mm2(self, bit: float = 0) -> float:
        """Area with memory at ``bit`` um2 a bit."""
        return (self.um2 + bit * self.bits) / 1e6


# Measured with the same flow, library and work. Their pixels a clock a mm2 are known to three
# digits; they exclude triangle setup.
PEERS = (
    Machine("Skybox, one slice", 222326, 40192, 213, 51.3 * 0.222326, 0.28 * 0.222326),
    Machine("RasterIX", 53739, 0, 181, 18.4 * 0.053739, None),
    Machine("pico-gs", 416819, 181178, 83, 0.33 * 0.416819, None),
)


def bits(row: dict[str, Any]) -> int:
    """Bits of all memories of a row."""
    return sum(places * width for _, places, width, *_ in row["memories"])


def text(rows: dict[str, dict[str, Any]]) -> str:
    """The rows as a table of plain text."""
    cells = [HEADINGS, *(_cells(name, row) for name, row in rows.items())]
    widths = [max(len(line[n]) for line in cells if len(line) > 2) for n in range(len(HEADINGS))]
    widths[0] = max(len(line[0]) for line in cells)
    lines = []
    for name, *more in cells:
        padded = [value.rjust(width) for value, width in zip(more[:5], widths[1:6])]
        lines.append("  ".join([name.ljust(widths[0]), *padded, *more[5:]]).rstrip())
    return "\n".join(lines)


def _when(area: dict[str, Any]) -> str:
    """Commit and day of most rows; and of the others, by name."""
    by_stamp: dict[str, list[str]] = {}
    for name, row in area["rows"].items():
        by_stamp.setdefault(stamp.said(row), []).append(name)
    most, *others = sorted(by_stamp, key=lambda said: -len(by_stamp[said]))
    return most + "".join(f" ({', '.join(by_stamp[said])}: {said})" for said in others)


def lines(area: dict[str, Any]) -> list[str]:
    """The section of docs/bench.md, of what docs/area.json holds."""
    tools = ", ".join(f"{tool} {version}" for tool, version in area["tools"].items())
    head = [
        "## Area and timing",
        "",
        f"Static timing and area in standard cells: `{area['library']}`, {tools}, {_when(area)}, "
        f"by `{area['command']}`.",
        "Before layout, without wires: trust a frequency to 10 %. ns and MHz are those of the "
        "longest path, setup included,",
        "between registers, ports and memories; FF is the flip-flops' share of the area. "
        "Memories stand outside: their bits",
        "are counted, they answer at once, and are not in um2. Ends of the longest paths: "
        "[area.json](area.json).",
        "",
        f"| {' | '.join(HEADINGS)} |",
        "|---|" + "---|" * (len(HEADINGS) - 1),
    ]
    table = []
    for name, row in area["rows"].items():
        cells = _cells(name, row)
        table.append(f"| {' | '.join([*cells, *[''] * (len(HEADINGS) - len(cells))])} |")
    return [*head, *table, *_parts_of_top(area["rows"]), "", *_densities(area)]


def _cells(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    """A row of a table, or why there is none."""
    if "omitted" in row:
        return name, row["omitted"]
    path = (f"{row['ns']:.2f}", f"{row['mhz']:.0f}") if "ns" in row else ("-", "-")
    share = f"{row['flip_flops']:.0%}"
    return name, f"{row['um2']:,.0f}", share, *path, f"{bits(row):,}", _geometry(row["memories"])


def _geometry(memories: list[list]) -> str:
    """Places by bits of the memories, the largest first: ``128x515, 2 of 128x296``."""
    kinds = Counter((places, width) for _, places, width, *_ in memories)
    named = [
        f"{count} of {places}x{width}" if count > 1 else f"{places}x{width}"
        for (places, width), count in kinds.items()
    ]
    more = len(named) - GEOMETRIES
    return ", ".join(named[:GEOMETRIES]) + (f", {more} other kinds" if more > 0 else "")


def _parts_of_top(rows: dict[str, dict[str, Any]]) -> list[str]:
    """What the top's parts sum up to."""
    parts = [row for name, row in rows.items() if name.startswith("top")]
    known = [row for row in parts if "um2" in row]
    if not known:
        return []
    missing = f", {len(parts) - len(known)} parts apart" if len(known) < len(parts) else ""
    return [
        "",
        f"The top (default) is the sum of its parts{missing}: "
        f"{sum(row['um2'] for row in known) / 1e6:.2f} mm2 and "
        f"{sum(map(bits, known)):,} bits of memory. What a part has no use for there is counted: "
        "an upper bound. Blocks that only join others have no row of their own in full size: "
        f"{', '.join(BY_PARTS)}.",
    ]


def _machines(area: dict[str, Any]) -> list[Machine]:
    """The rasterizers alone, and behind triangle setup."""
    rows = area["rows"]
    setup = rows.get(SETUP, {})
    machines = []
    for config in RASTERIZERS:
        row = rows.get(f"tile_rasterizer ({config})", {})
        rates = area["rates"].get(config)
        if "ns" not in row or not rates:
            continue
        pixels, clocks, triangles, triangle_clocks = rates
        rate = pixels / clocks, triangles / triangle_clocks
        name = f"tile_rasterizer ({config})"
        machines.append(Machine(name, row["um2"], bits(row), row["mhz"], *rate))
        if "ns" in setup:
            um2 = row["um2"] + setup["um2"]
            mhz = min(row["mhz"], setup["mhz"])
            both = bits(row) + bits(setup)
            machines.append(Machine(f"{name} and triangle_setup", um2, both, mhz, *rate))
    return machines


def _densities(area: dict[str, Any]) -> list[str]:
    """Pixels and triangles a clock and a second, a mm2, beside those of peers."""
    ours = _machines(area)
    if not ours:
        return []
    kinds = ("cells", *(f"{bit} um2 a bit" for bit in BIT))
    return [
        "Pixels of a right triangle of 512 pixels, and triangles of 4x4 pixels, a mm2: of cells "
        "alone, and with memory at",
        f"{BIT[0]} and at {BIT[1]} um2 a bit. Clocks are those of rasterizer and triangle setup "
        "in a row; area with triangle setup",
        "and without. Peers exclude triangle setup, and are measured with the same flow, library "
        "and work.",
        "",
        f"| rasterizer | mm2 | {' | '.join(f'px/clk/mm2, {kind}' for kind in kinds)} "
        f"| {' | '.join(f'Gpx/s/mm2, {kind}' for kind in kinds)} "
        "| triangles/clk/mm2, cells |",
        "|---|" + "---|" * (2 * len(kinds) + 2),
        *(_density(machine) for machine in (*ours, *PEERS)),
    ]


def _density(machine: Machine) -> str:
    """A row of the table of peers."""
    rates = [machine.pixels / machine.mm2(bit) for bit in (0, *BIT)]
    seconds = [rate * machine.mhz / 1e3 for rate in rates]
    triangles = f"{machine.triangles / machine.mm2():.2f}" if machine.triangles else "-"
    columns = [
        machine.name,
        f"{machine.mm2():.3f}",
        *(f"{rate:.3g}" for rate in rates),
        *(f"{rate:.2g}" if rate < 1 else f"{rate:.1f}" for rate in seconds),
        triangles,
    ]
    return f"| {' | '.join(columns)} |"
