# SPDX-License-Identifier: BSD-2-Clause
"""Draw the figures of tessellation: ``python -m bench.figures``."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from bench import tessellation
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.tessellation.tessellator import RANGES

FOLDER = ROOT / "docs" / "tessellation"
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


def save(name, *panels, width=8):
    """One file of panels side by side: (title, how to draw)."""
    figure, axes = plt.subplots(1, len(panels), figsize=(width * len(panels), 4.2), squeeze=False)
    for part, (title, draw) in zip(axes[0], panels, strict=True):
        part.set_title(title)
        draw(part)
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.png", dpi=80)
    plt.close(figure)


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
    print(f"wrote {len(NAMES) + 3} figures to {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
