# SPDX-License-Identifier: BSD-2-Clause
"""Draw the figures of the tour: ``python -m bench.tour``."""

import io
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from bench.tour import geometry, pixels, tiles
from fixfunc.cosim import files
from fixfunc.cosim.toolchain import ROOT

FOLDER = ROOT / "docs" / "guide" / "tour"
SIZE = 6.6, 2.5  # inches, of 100 pixels
FIGURES: dict[str, Callable[[list], None]] = {
    "commands": geometry.commands,
    "assembly": geometry.assembly,
    "tessellation": geometry.tessellation,
    "clipping": geometry.clipping,
    "setup": tiles.setup,
    "raster": tiles.raster,
    "hiz": tiles.hiz,
    "depth": tiles.depth,
    "quads": pixels.quads,
    "texture": pixels.texture,
    "output": pixels.output,
    "display": pixels.display,
}


def picture(name: str) -> bytes:
    """A figure as a PNG file: the same pixels each time."""
    figure, axes = plt.subplots(1, 2, figsize=SIZE, dpi=100, layout="constrained")
    try:
        FIGURES[name](list(axes))
        data = io.BytesIO()
        figure.savefig(data, format="png", metadata={"Software": None})
        return data.getvalue()
    finally:
        plt.close(figure)


def main() -> None:
    """Write all figures."""
    for name in FIGURES:
        path = files.open_folder(FOLDER) / f"{name}.png"
        files.write(path, picture(name))
        print(f"{path}: written")


if __name__ == "__main__":
    main()
