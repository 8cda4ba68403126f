# SPDX-License-Identifier: BSD-2-Clause
"""glTF files as tests write them: accessors one by one, everything else as JSON."""

import copy
import io
import json

import numpy as np
from PIL import Image

CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
SQUARE = np.float32([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
COORDINATES = np.float32([(0, 1), (1, 1), (1, 0), (0, 0)])  # rows of a picture run down
FACES = np.uint16([0, 1, 2, 0, 2, 3])
# An orthographic camera at (0, 0, 1): from -1 to 1 in height, and nothing is turned.
FRONT = {"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0, "zfar": 4}}
UNLIT = {"extensions": {"KHR_materials_unlit": {}}, "doubleSided": True}


class Writer:
    """A file that grows: ``document`` is its JSON, ``data`` its buffer."""

    def __init__(self):
        self.data = b""
        self.document = {"asset": {"version": "2.0"}, "nodes": [], "meshes": []}

    def append(self, name, value):
        """An object of a list: its number."""
        values = self.document.setdefault(name, [])
        values.append(value)
        return len(values) - 1

    def view(self, octets, **fields):
        self.data += bytes(-len(self.data) % 4)
        at = len(self.data)
        self.data += octets
        value = {"buffer": 0, "byteOffset": at, "byteLength": len(octets)}
        return self.append("bufferViews", value | fields)

    def accessor(self, values, **fields):
        values = np.asarray(values)
        rows = values.reshape(len(values), -1)
        value = {
            "bufferView": self.view(np.ascontiguousarray(rows).tobytes()),
            "componentType": CODES[values.dtype.str[1:]],
            "count": len(rows),
            "type": TYPES[rows.shape[1]],
        }
        return self.append("accessors", value | fields)

    def texture(self, picture, sampler=None):
        """A texture of a picture, uint8, or of a file's bytes."""
        data = picture
        if not isinstance(picture, bytes):
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, "png")
            data = stream.getvalue()
        value = {"source": self.append("images", {"bufferView": self.view(data)})}
        if sampler is not None:
            value["sampler"] = self.append("samplers", sampler)
        return self.append("textures", value)

    def mesh(self, points=SQUARE, indices=FACES, material=None, mode=None, **attributes):
        """A mesh of one primitive."""
        names = {"POSITION": points} | attributes
        primitive = {"attributes": {name: self.accessor(values) for name, values in names.items()}}
        if indices is not None:
            primitive["indices"] = self.accessor(indices)
        if material is not None:
            primitive["material"] = self.append("materials", material)
        if mode is not None:
            primitive["mode"] = mode
        return self.append("meshes", {"primitives": [primitive]})

    def node(self, **fields):
        return self.append("nodes", fields)

    def look(self, camera=FRONT, **fields):
        """A camera, at (0, 0, 1) unless it is put elsewhere."""
        fields = {"translation": [0, 0, 1]} | fields
        return self.node(camera=self.append("cameras", copy.deepcopy(camera)), **fields)

    def save(self, path):
        self.document.setdefault("buffers", [{"byteLength": len(self.data)}])
        text = json.dumps(self.document).encode()
        text += b" " * (-len(text) % 4)
        data = self.data + bytes(-len(self.data) % 4)
        parts = ((0x4E4F534A, text), (0x004E4942, data))
        body = b"".join(
            len(part).to_bytes(4, "little") + kind.to_bytes(4, "little") + part
            for kind, part in parts
        )
        head = b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little")
        path.write_bytes(head + body)
        return path
