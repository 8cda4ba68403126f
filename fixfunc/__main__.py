# SPDX-License-Identifier: BSD-2-Clause
# PYTHON_ARGCOMPLETE_OK
"""The command line: ``fixfunc``, or ``python -m fixfunc``.

Commands of the product, and of the benches those that need no checkout.
"""

import sys

import fixfunc.cosim.__main__ as product
import fixfunc.tb.__main__ as benches
from fixfunc import __version__
from fixfunc.cosim import command_line, completion


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    parser = command_line.Parser(
        prog="fixfunc",
        description="Write Verilog and vectors, draw frames, compare blocks with golden models.",
    )
    parser.add_argument("--version", action="version", version=f"fixfunc {__version__}")
    command = command_line.adder(parser)
    product.add_commands(command)
    benches.add_commands(command)
    completion.answer(parser)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
