# SPDX-License-Identifier: BSD-2-Clause
"""Build the site: ``python -m bench.site -o out/docs``."""

import argparse
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from bench.site import stage
from fixfunc.cosim import files
from fixfunc.cosim.toolchain import ROOT
from fixfunc.spec.errors import InputError

HERE = Path(__file__).parent


def build(folder: Path, root: Path = ROOT, has_reference: bool = True) -> int:
    """Build the site; a warning, such as a link that leads nowhere, fails it.

    Parameters
    ----------
    folder : Path
    root : Path
        A checkout.
    has_reference : bool
        Docstrings are among its pages, which takes most of the time.

    Returns
    -------
    int
        0, or Sphinx's exit code.
    """
    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / "source"
        stage.lay_out(source, root, has_reference)
        options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
        return build_main([*options, "-d", str(Path(made) / "doctrees"), str(source), str(folder)])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="bench.site", description=build.__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="out/docs", help="folder")
    parser.add_argument("--root", default=ROOT, type=Path, help="checkout that has the pages")
    parser.add_argument("--pages", action="store_true", help="pages alone, no reference")
    options = parser.parse_args()
    try:
        folder = files.open_folder(Path(options.output))
    except InputError as error:
        parser.error(str(error))
    failed = build(folder, options.root, not options.pages)
    if not failed:
        print(f"{folder / 'index.html'}: written")
    return failed


if __name__ == "__main__":
    sys.exit(main())
