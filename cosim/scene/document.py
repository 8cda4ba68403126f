# SPDX-License-Identifier: BSD-2-Clause
"""glTF files: their JSON, and numbers and bytes of their buffers, never beyond these.

Trimesh reads such files, too, but drops cameras, samplers and modes of alpha, and follows what a
hostile file says.
"""

import base64
import binascii
import json
import struct
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from fixfunc.cosim.scene.item import Item
from fixfunc.spec.errors import InputError, MeshError

MOST_BYTES = 1 << 30  # of a file
MOST_NUMBERS = 1 << 24  # of all accessors, as often as they are read
_BINARY = b"glTF"
_JSON = 0x4E4F534A
_BIN = 0x004E4942
_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_TYPES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
# [glTF 2.0, 3.6.2.4]: strides of vertices.
_STRIDES = (4, 252)


class Document:
    """A glTF file whose JSON has been read; buffers are read when they are asked for.

    Parameters
    ----------
    path : Path
        A ``.gltf`` or a ``.glb``.

    Attributes
    ----------
    root : Item

    Raises
    ------
    InputError
        There is no such file.
    MeshError
        What the file says breaks a rule: file, field, rule and value.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        data = _read(path, "mesh")
        self._binary = None
        if data[:4] == _BINARY:
            data = self._chunks(data)
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            rule = "be JSON that can be read"
            raise MeshError(f"{path.name}: text", rule, f"{error!s:.80}") from error
        self.root = Item(path.name, "", fields)
        version = self.root.within("asset").text("version")
        if version.split(".")[0] != "2":
            raise self.root.refusal("asset.version", "be 2, or 2 and a minor one", repr(version))
        self._lists: dict[str, list[Item]] = {}
        self._buffers: dict[int, bytes] = {}
        self._numbers = 0

    def _chunks(self, data):
        """JSON of a binary file; its buffer is kept."""
        at = 12
        texts = b""
        while at + 8 <= len(data):
            length, kind = struct.unpack_from("<II", data, at)
            at += 8
            if at + length > len(data):
                rule = f"end within the file of {len(data)} bytes"
                raise MeshError(f"{self._path.name}: chunk", rule, at + length)
            if kind == _JSON and not texts:
                texts = data[at : at + length]
            elif kind == _BIN and self._binary is None:
                self._binary = data[at : at + length]
            at += length
        return texts

    def all(self, name: str) -> list[Item]:
        """Objects of a list of the file, such as ``nodes``."""
        if name not in self._lists:
            self._lists[name] = self.root.items(name)
        return self._lists[name]

    def named(self, item: Item, field: str, name: str | None = None) -> Item | None:
        """The object of a list that a field names by its number; None, if it names none."""
        if field not in item:
            return None
        found = self.all(name or f"{field}s")
        return found[self._number(item, field, found)]

    @staticmethod
    def _number(item, field, found):
        if not found:
            raise item.refusal(field, "name what is there", item.fields[field])
        return item.integer(field, None, 0, len(found) - 1)

    def bytes_of(self, view: Item) -> memoryview:
        """Bytes of a buffer view."""
        buffers = self.all("buffers")
        if "buffer" not in view:
            raise view.refusal("buffer", "be there", None)
        number = self._number(view, "buffer", buffers)
        length = view.integer("byteLength", None, 1)
        first = view.integer("byteOffset", 0)
        data = self._buffer(buffers[number], number)
        if first + length > len(data):
            rule = f"end within {buffers[number].place} of {len(data)} bytes"
            raise view.refusal("byteLength", rule, first + length)
        return memoryview(data)[first : first + length]

    def _buffer(self, item, number):
        if number not in self._buffers:
            length = item.integer("byteLength", None, 1)
            if "uri" in item:
                data = self.resource(item)
            elif number == 0 and self._binary is not None:
                data = self._binary
            else:
                raise item.refusal("uri", "be there, or the file be binary", None)
            if len(data) < length:
                raise item.refusal("byteLength", f"be at most the {len(data)} of its data", length)
            self._buffers[number] = data[:length]
        return self._buffers[number]

    def resource(self, item: Item) -> bytes:
        """What an object's ``uri`` holds, or the file that it names."""
        uri = item.text("uri")
        head, comma, text = uri.partition(",")
        if head.startswith("data:"):
            if not comma or not head.endswith(";base64"):
                raise item.refusal("uri", "be data of base64", head)
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error as error:
                raise item.refusal("uri", "be data of base64", error) from error
        name = unquote(uri)
        if ":" in name or name.startswith(("/", "\\")) or "\0" in name:
            raise item.refusal("uri", "be a file beside this one", uri)
        try:
            return _read(self._path.parent / name, f"{item.file}: {item.place}.uri")
        except OSError as error:
            raise item.refusal("uri", "be a file that can be read", uri) from error

    def numbers(self, accessor: Item, types: tuple[str, ...]) -> np.ndarray:
        """Elements of an accessor, which is of one of some types.

        Returns
        -------
        ndarray, shape (count, components)
            float32 of floats, and of integers that are normalized [glTF 2.0, 3.6.2.2]; others have
            the file's type.
        """
        count = accessor.integer("count", None, 1)
        components = _TYPES[accessor.text("type", "", types)]
        self._numbers += count * components
        if self._numbers > MOST_NUMBERS:
            rule = f"bring numbers that are read to {MOST_NUMBERS} at most"
            raise accessor.refusal("count", rule, self._numbers)
        values = self._elements(accessor, accessor, count, components)
        sparse = accessor.item("sparse")
        if sparse is not None:
            values = self._replaced(accessor, sparse, values)
        if values.dtype.kind != "f" and accessor.flag("normalized"):
            most = np.float32(np.iinfo(values.dtype).max)
            values = np.maximum(values.astype(np.float32) / most, np.float32(-1))
        return values

    def _elements(self, item, described, count, components):
        """Elements where ``item`` says, of the component type that ``described`` has."""
        code = described.integer("componentType", None)
        if code not in _COMPONENTS:
            raise described.refusal("componentType", f"be one of {[*_COMPONENTS]}", code)
        kind = np.dtype(_COMPONENTS[code])
        view = self.named(item, "bufferView")
        if view is None:
            return np.zeros((count, components), kind)
        size = components * kind.itemsize
        stride = view.integer("byteStride", size, *_STRIDES) if "byteStride" in view else size
        data = self.bytes_of(view)
        first = item.integer("byteOffset", 0)
        end = first + (count - 1) * stride + size
        if end > len(data):
            raise item.refusal("count", f"end within {view.place} of {len(data)} bytes", end)
        shape = (count, components)
        return np.ndarray(shape, kind, data, first, (stride, kind.itemsize)).copy()

    def _replaced(self, accessor, sparse, values):
        """Elements of which some are others [glTF 2.0, 3.6.2.3]."""
        count = sparse.integer("count", None, 1, len(values))
        indices = sparse.within("indices")
        numbers = self._elements(indices, indices, count, 1)[:, 0]
        if numbers.dtype.kind != "u" or (numbers >= len(values)).any():
            raise sparse.refusal("indices", f"name elements below {len(values)}", numbers.max())
        held = sparse.within("values")
        values[numbers] = self._elements(held, accessor, count, values.shape[1])
        return values


def _read(path, field):
    """A file's bytes, if it is one and not too many."""
    if not path.is_file():
        raise InputError(field, "be a file that exists", path.name)
    if path.stat().st_size > MOST_BYTES:
        raise MeshError(field, f"hold at most {MOST_BYTES} bytes", path.stat().st_size)
    return path.read_bytes()
