# SPDX-License-Identifier: BSD-2-Clause
"""Events within the hardware, watched by cover properties in a copy of its Verilog."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog import hierarchy
from fixfunc.tb.coverage.named import MODULE


class Event(NamedTuple):
    """Something that happens in a clock, in a module of the block.

    Parameters
    ----------
    name : str
        Of its bin.
    module : str
        Regular expression of an instance's place, without the number that Amaranth may put behind
        it. The event is watched in each module of which an instance has such a place.
    when : str
        Expression of the module's signals, in Verilog.
    """

    name: str
    module: str
    when: str


def label(name: str) -> str:
    """A bin's name as an identifier of Verilog."""
    return "event_" + re.sub(r"[\W_]+", "_", name).strip("_")


def watched(source: str, events: Iterable[Event]) -> str:
    """Verilog with a cover property of each event.

    Raises
    ------
    ToolError
        An event has no module.
    """
    top = next(iter(hierarchy.modules(source)))
    places = hierarchy.places(hierarchy.paths(source, top))
    missing = {event.name for event in events}

    def module(found: re.Match) -> str:
        here = places.get(found[1].strip().removeprefix("\\"), ())
        chosen = [
            event
            for event in events
            if any(re.fullmatch(rf"{event.module}(\$\d+)?", place) for place in here)
        ]
        missing.difference_update(event.name for event in chosen)
        lines = [
            f"  {label(event.name)}: cover property (@(posedge clk) !rst && ({event.when}));\n"
            for event in chosen
        ]
        return found[0].removesuffix("endmodule") + "".join(lines) + "endmodule"

    text = MODULE.sub(module, source)
    if missing:
        raise ToolError(f"no module has the events {', '.join(sorted(missing))}")
    return text
