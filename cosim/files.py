# SPDX-License-Identifier: BSD-2-Clause
"""Files that are written whole or not at all, into folders that are opened before the work."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fixfunc.spec.errors import InputError


def open_folder(path: Path) -> Path:
    """Make a folder, or find it, and see that files can be written in it.

    It is called before hours of work depend on the folder.

    Raises
    ------
    InputError
        It is a file, or nothing can be written there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InputError(
            "output folder", "be a folder that can be written", f"{path}: {error.strerror}"
        ) from error
    return path


def open_file(path: Path) -> Path:
    """See that a file can be written: as :func:`open_folder`, whose folder is not made."""
    if path.is_dir():
        raise InputError("output file", "be a file", f"{path}, a folder")
    if not path.parent.is_dir():
        raise InputError("output file", "lie in a folder that exists", path)
    if not path.exists():
        open_folder(path.parent)
    elif not os.access(path, os.W_OK):
        raise InputError("output file", "be a file that can be written", path)
    return path


def write(path: Path, data: str | bytes) -> None:
    """Write a file, or leave what was there.

    A device, which cannot be replaced, is written as it is.
    """
    data = data.encode() if isinstance(data, str) else data
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}, while writing {path}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where a tool may write a file: it takes its place when all of that has gone well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def free_folder(path: Path) -> Path:
    """See that a folder can be made: nothing is there, or an empty one.

    Raises
    ------
    InputError
        There is something, or nothing can be written where it lies.
    """
    path = path.absolute()
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise InputError("output folder", "be an empty folder, or not be there", path)
    found = sorted(file.name for file in path.iterdir()) if path.is_dir() else []
    if found:
        rule = "be an empty folder, or not be there"
        raise InputError("output folder", rule, f"{path}, with {found[0]}")
    open_folder(next(parent for parent in path.parents if parent.exists()))
    return path


def write_folder(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write a folder of files, whole or not at all, where :func:`free_folder` has been."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.mkdir()
        for name, data in contents.items():
            (temporary / name).write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}, while writing {path}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
