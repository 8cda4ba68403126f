# SPDX-License-Identifier: BSD-2-Clause
"""What two workers of a Dask cluster gain over one: ``python -m bench.golden.sweep``."""

import time

from distributed import LocalCluster

from fixfunc.cosim.sweep import parameters, point, workers

OVER = ("size=640x360", "sets=4,16,64,256", "hiz=both,none")
ROUNDS = 2  # of all points; before them one of small ones, in which workers import


def seconds(count):
    """Time of all points, drawn by so many workers of one thread."""
    points = parameters.points(["teapot"], OVER, golden=True) * ROUNDS
    small = parameters.points(["teapot"], ("size=64x48", "samples=1,2,4,8"), golden=True)
    options = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(**options) as cluster,
        workers.drawing(point.draw, 1, cluster.scheduler_address) as draw,
    ):
        list(draw(small * count))
        start = time.perf_counter()
        list(draw(points))
        return time.perf_counter() - start


def main():
    one, two = (seconds(count) for count in (1, 2))
    print(f"one worker {one:.1f} s, two {two:.1f} s: {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
