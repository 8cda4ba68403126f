# SPDX-License-Identifier: BSD-2-Clause
"""A command that is asked to end ends what it has started."""

import signal
import subprocess
import sys

import pytest

COMMAND = """
import argparse, os, signal, sys
from fixfunc.cosim import command_line

def pause():
    while True:
        signal.sigtimedwait([], 0.1)  # a signal right before pause() would not end it

def wait(_):
    ready, begun = os.pipe()
    child = os.fork()
    if not child:
        os.write(begun, b".")  # Python forgets signals that come while it forks
        pause()
    os.read(ready, 1)
    try:
        print("waits", flush=True)
        pause()
    finally:
        os.kill(child, signal.SIGTERM)
        status = os.waitpid(child, 0)[1]
        print(f"child {os.WTERMSIG(status)}", flush=True)

parser = argparse.ArgumentParser()
parser.set_defaults(run=wait)
sys.exit(command_line.run(parser, []))
"""


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "hung up"),
    ],
)
def test_a_signal_is_one_line_and_leaves_no_process(number, code, said):
    """A child that was forked ends by the signal itself, not by a traceback."""
    running = subprocess.Popen(
        [sys.executable, "-c", COMMAND],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "waits\n"
    running.send_signal(number)
    out, error = running.communicate()
    assert running.returncode == code
    assert out == f"child {int(signal.SIGTERM)}\n"
    assert error == f"fixfunc: {said}\n"
