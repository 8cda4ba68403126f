# SPDX-License-Identifier: BSD-2-Clause
"""What a shell may complete: commands, options, blocks, configurations, parameters.

``eval "$(register-python-argcomplete fixfunc)"`` switches it on; argcomplete then asks the program
itself, so that nothing is written twice. Nothing of the hardware is imported for an answer.
"""

import argparse
import os
from collections.abc import Callable, Iterable


def answer(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks what may follow, and end; do nothing for anybody else."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    for action in _actions(parser):
        if action.dest in _COMPLETERS:
            action.completer = _COMPLETERS[action.dest]
    argcomplete.autocomplete(parser)


def _actions(parser):
    """Arguments of every command."""
    for action in parser._subparsers._group_actions:
        for command in action.choices.values():
            yield from command._actions


def _blocks(**_asked) -> Iterable[str]:
    from fixfunc.cosim.verilog import listed

    return listed.names()


def _configurations(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    from fixfunc.cosim.verilog import listed

    known = parsed_args.block in listed.names()
    return listed.block(parsed_args.block)["configurations"] if known else ()


def _changes(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    """Parameters of a block, for ``--set``."""
    from fixfunc.cosim.verilog import listed

    if parsed_args.block not in listed.names():
        return ()
    configuration = listed.block(parsed_args.block)["configurations"]["default"]
    return [f"{name}=" for name in configuration["parameters"]]


def _over(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    """Parameters of a sweep."""
    from fixfunc.cosim.sweep import parameters

    machine = "golden" if parsed_args.golden else "hardware"
    return [f"{one.name}=" for one in parameters.PARAMETERS if machine in one.machines]


_COMPLETERS: dict[str, Callable[..., Iterable[str]]] = {
    "block": _blocks,
    "config": _configurations,
    "changes": _changes,
    "over": _over,
}
