# SPDX-License-Identifier: BSD-2-Clause
"""The folders at the top are installed below one name: ``models`` as ``fixfunc.models``.

The package itself, ``fixfunc``, has its version.

All else is in pyproject.toml.
"""

from setuptools import find_packages, setup

FOLDERS = ("spec", "models", "rtl", "cosim", "tb", "examples")

setup(
    package_dir={f"fixfunc.{folder}": folder for folder in FOLDERS},
    packages=[
        "fixfunc",
        *(
            f"fixfunc.{package}"
            for folder in FOLDERS
            for package in [folder, *(f"{folder}.{below}" for below in find_packages(folder))]
        ),
    ],
)
