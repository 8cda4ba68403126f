# SPDX-License-Identifier: BSD-2-Clause
"""Draw the figures of tessellation and of vertex reuse: ``python -m bench.figures``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bench import tessellation
from bench.golden import front
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.tessellation.tessellator import RANGES

FOLDER = ROOT / "docs" / "tessellation"
REUSE = ROOT / "docs" / "frontend" / "reuse.png"
NAMES = {"isoline": "lines", "triangle": "triangles", "quad": "quads"}


def bars(axes, labels, points, shaded, legend="upper left"):
    """Vertices without and with the unit, and the share that it saves."""
    place = range(len(labels))
    axes.bar(
        [n - 0.2 for n in place], points, 0.4, label="vertices without the unit", color="#9db4c0"
    )
    axes.bar([n + 0.2 for n in place], shaded, 0.4, label="with it", color="#5c6b73")
    axes.set_xticks(list(place), labels)
    axes.set_ylabel("vertices shaded")
    ratio = axes.twinx()
    ratio.plot(
        list(place),
        [1 - s / p for p, s in zip(points, shaded, strict=True)],
        "o-",
        color="#c2410c",
        label="hit ratio",
    )
    ratio.set_ylim(0, 1)
    ratio.set_ylabel("hit ratio")
    handles = [
        [*ours, *theirs]
        for ours, theirs in zip(
            axes.get_legend_handles_labels(), ratio.get_legend_handles_labels(), strict=True
        )
    ]
    axes.legend(*handles, loc=legend)


def lines(axes, curves):
    """Hit ratio by factor."""
    for name, values in curves.items():
        axes.plot(list(tessellation.STEPS), values, "o-", label=name, markersize=3)
    axes.set_xlabel("factor")
    axes.set_ylabel("hit ratio")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend()


def ratio(*arguments):
    """Hit ratio at each factor."""
    counts = [
        tessellation.matched(arguments[0], factor, *arguments[1:]) for factor in tessellation.STEPS
    ]
    return [1 - shaded / points for points, shaded in counts]


def reuses(axes, faces):
    """Hit rates by size, and the most that there can be."""
    for how, values in front.by_size(faces).items():
        name = {"batch": "batches of so many vertices", "fifo": "FIFO of so many"}[how]
        axes.plot(front.SIZES, values, "o-", label=name, markersize=3)
    most = 1 - len(np.unique(faces)) / faces.size
    axes.axhline(most, color="grey", linestyle=":", label="each vertex once")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("vertices known")
    axes.set_ylabel("hit rate")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize="small")


def save(name, *panels, width=8):
    """One file of panels side by side: (title, how to draw)."""
    figure, axes = plt.subplots(1, len(panels), figsize=(width * len(panels), 4.2), squeeze=False)
    for part, (title, draw) in zip(axes[0], panels, strict=True):
        part.set_title(title)
        draw(part)
    figure.tight_layout()
    figure.savefig(name if isinstance(name, Path) else FOLDER / f"{name}.png", dpi=80)
    plt.close(figure)


def draw_reuse():
    """The figure of the vertex cache's page."""
    panels = (
        (name, lambda axes, faces=faces: reuses(axes, faces))
        for name, faces in front.meshes().items()
        if "shuffled" not in name
    )
    save(REUSE, *panels, width=4.5)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for domain, name in NAMES.items():
        counts = [tessellation.matched(domain, factor) for factor in tessellation.STEPS]
        save(
            name,
            (
                f"{name}, all factors the same",
                lambda axes, counts=counts: bars(
                    axes, list(tessellation.STEPS), *zip(*counts, strict=True)
                ),
            ),
        )
    partitionings = [kind for kind in RANGES if kind != "pow2"]
    save(
        "partitionings",
        *(
            (
                name,
                lambda axes, domain=domain: lines(
                    axes, {kind: ratio(domain, kind) for kind in partitionings}
                ),
            )
            for domain, name in NAMES.items()
        ),
        width=5,
    )
    sizes = {f"{rows} x {lanes}": (rows, lanes) for rows, lanes in tessellation.SIZES}
    save(
        "tagram",
        *(
            (
                name,
                lambda axes, domain=domain: lines(
                    axes, {size: ratio(domain, "integer", *shape) for size, shape in sizes.items()}
                ),
            )
            for domain, name in NAMES.items()
        ),
        width=5,
    )
    draws = tessellation.draws()
    names, _, points, shaded, *_ = zip(*draws, strict=True)
    save(
        "draws",
        (
            "draws",
            lambda axes: bars(
                axes, [name.replace(", ", "\n") for name in names], points, shaded, "center right"
            ),
        ),
        width=10,
    )
    draw_reuse()
    print(f"wrote {len(NAMES) + 3} figures to {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
