# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms of the pages in ``docs/lib``, drawn from what is simulated.

``python -m fixfunc.tb.lib.waveform`` draws them anew. On a page, a code block whose first line is
``wave <name>`` belongs to the example of that name, in the ``EXAMPLES`` of a bench.
"""

import re
from pathlib import Path

from amaranth.lib.data import ArrayLayout, View

from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb.bench.clocked import Example, difference, port, simulate
from fixfunc.tb.lib.harness import EXAMPLES

PAGES = ROOT / "docs" / "lib"
BLOCK = re.compile(r"(?ms)^```\nwave (\w+)\n.*?^```\n")
WIDTH = 5  # characters of a clock


def draw(name: str, example: Example) -> str:
    """An example: a row a port, ``WIDTH`` characters a clock.

    A bit is a line that is low or high; a value is written where it changes, an array as its
    elements. Dots are values of which the golden model says nothing in that clock.
    """
    trace = example.trace()
    component = example.create()
    seen = simulate(component, trace, example.shown)
    first = difference(trace, seen)
    assert first is None, f"example of {name}: {first}"
    label = max(map(len, example.shown)) + 2
    rows = [f"wave {name}", " " * label + "".join(f"{n:<{WIDTH}}" for n in range(len(trace)))]
    held = {pin for clock in trace for pin in clock.outputs}
    for pin in example.shown:
        values = [
            None
            if pin in held and pin not in clock.outputs
            else _elements(component, pin, outputs[pin])
            for clock, outputs in zip(trace, seen, strict=True)
        ]
        bit = len(port(component, pin)) == 1
        rows.append(f"{pin:<{label}}{_bits(values) if bit else _values(values)}")
    return "\n".join(row.rstrip() for row in rows)


def _bits(values):
    """A line, low or high, with an edge where it changes."""
    out = ""
    before = values[0]
    for value in values:
        level = "~" if value else "_"
        edge = level if value == before else "/" if value else "\\"
        out += edge + level * (WIDTH - 1)
        before = value
    return out


def _values(values):
    """Values, each where it begins; a long one needs clocks in which it holds."""
    out = ""
    before = object()
    for n, value in enumerate(values):
        if value is None or value != before:
            assert len(out) <= n * WIDTH, f"{before} has no room before clock {n}"
            out = f"{out:<{n * WIDTH}}" + ("." * WIDTH if value is None else f"|{value}")
        before = value
    return f"{out:<{len(values) * WIDTH}}"


def _elements(component, pin, value):
    """A value as it is drawn: of an array its elements, the first one first."""
    member = getattr(component, pin, None)
    if value is None or not isinstance(member, View) or not isinstance(member.shape(), ArrayLayout):
        return value
    bits = len(port(component, pin)) // len(member)
    return " ".join(str(value >> n * bits & (1 << bits) - 1) for n in range(len(member)))


def page(text: str) -> str:
    """A page with its waveforms drawn anew."""
    return BLOCK.sub(lambda found: f"```\n{draw(found[1], EXAMPLES[found[1]])}\n```\n", text)


def main() -> None:
    """Draw all waveforms anew."""
    for path in sorted(PAGES.glob("*.md")):
        Path(path).write_text(page(path.read_text()))


if __name__ == "__main__":
    main()
