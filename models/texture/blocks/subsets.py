# SPDX-License-Identifier: BSD-2-Clause
"""Partitions of BC6H and BC7: blocks divided among two or three subsets of texels."""

import numpy as np

# Partitions as words. The subset of texel n is bit n (of two), or bits 2n and 2n + 1 (of three).
_TWO = """
    cccc 8888 eeee ecc8 c880 feec fec8 ec80 c800 ffec fe80 e800 ffe8 ff00 fff0 f000
    f710 008e 7100 08ce 008c 7310 3100 8cce 088c 3110 6666 366c 17e8 0ff0 718e 399c
    aaaa f0f0 5a5a 33cc 3c3c 55aa 9696 a55a 73ce 13c8 324c 3bdc 6996 c33c 9966 0660
    0272 04e4 4e40 2720 c936 936c 39c6 639c 9336 9cc6 817e e718 ccf0 0fcc 7744 ee22
"""
_THREE = """
    aa685050 6a5a5040 5a5a4200 5450a0a8 a5a50000 a0a05050 5555a0a0 5a5a5050
    aa550000 aa555500 aaaa5500 90909090 94949494 a4a4a4a4 a9a59450 2a0a4250
    a5945040 0a425054 a5a5a500 55a0a0a0 a8a85454 6a6a4040 a4a45000 1a1a0500
    0050a4a4 aaa59090 14696914 69691400 a08585a0 aa821414 50a4a450 6a5a0200
    a9a58000 5090a0a8 a8a09050 24242424 00aa5500 24924924 24499224 50a50a50
    500aa550 aaaa4444 66660000 a5a0a5a0 50a050a0 69286928 44aaaa44 66666600
    aa444444 54a854a8 95809580 96969600 a85454a8 80959580 aa141414 96960000
    aaaa1414 a05050a0 a0a5a5a0 96000000 40804080 a9a8a9a8 aaaaaa44 2a4a5254
"""

# Anchors: the texel of the second, or third, subset whose index lacks its highest bit. The anchor
# of the first subset is always texel 0.
_SECOND_OF_TWO = "fffffffffffffffff282288f28228822ff6828ff28222ff66268ff22fffff22f"
_SECOND_OF_THREE = "33ff83ff88666533338f336a588685ff8f356a8ff3f5ffff3f55585a5a8dfc33"
_THIRD_OF_THREE = "f883ff38fffffff8f8f3f8f83f6affa8f3faa89a6f8f3668f3ffffffffff3ff8"


def _subsets(text, bits):
    words = np.array([int(word, 16) for word in text.split()])[:, None]
    return (words >> bits * np.arange(16) & (1 << bits) - 1).astype(np.uint8)


def _texels(*lines):
    return np.stack([[int(digit, 16) for digit in line] for line in lines], 1).astype(np.uint64)


# By number of subsets: the subset of each texel, shape (partitions, 16), and the anchors beyond
# texel 0, shape (partitions, subsets - 1).
SUBSETS = {1: np.zeros((1, 16), np.uint8), 2: _subsets(_TWO, 1), 3: _subsets(_THREE, 2)}
ANCHORS = {
    1: np.zeros((1, 0), np.uint64),
    2: _texels(_SECOND_OF_TWO),
    3: _texels(_SECOND_OF_THREE, _THIRD_OF_THREE),
}

# Weights of the second end point, of 64, by bits of an index.
WEIGHTS = {
    2: np.array([0, 21, 43, 64]),
    3: np.array([0, 9, 18, 27, 37, 46, 55, 64]),
    4: np.array([0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]),
}


def words(blocks):
    """Low and high 64 bits of blocks of 16 bytes."""
    return np.ascontiguousarray(blocks).view("<u8").astype(np.uint64, copy=False).T


def bits(low, high, first, count):
    """``count`` bits, up to 64, of blocks of 128 bits, from bit ``first`` on."""
    if first >= 64:
        value = high >> np.uint64(first - 64)
    elif first + count <= 64:
        value = low >> np.uint64(first)
    else:
        value = low >> np.uint64(first) | high << np.uint64(64 - first)
    return value & np.uint64((1 << count) - 1)


def indices(stream, width, anchors):
    """The index of each texel, uint64 of shape (n, 16).

    Parameters
    ----------
    stream : ndarray of uint64, shape (n,)
        Indices of ``width`` bits, texel 0 lowest. Those of texel 0 and of each anchor are a bit
        shorter.
    width : int
        Bits of an index.
    anchors : ndarray of uint64, shape (n, k)
        Anchors beyond texel 0.
    """
    width = np.uint64(width)
    for anchor in (np.uint64(0), *np.sort(anchors, 1).T):
        missing = anchor * width + width - np.uint64(1)  # position of the bit that is not stored
        low = (np.uint64(1) << missing) - np.uint64(1)
        stream = stream & low | (stream & ~low) << np.uint64(1)
    return stream[:, None] >> np.arange(16, dtype=np.uint64) * width & (
        np.uint64(1) << width
    ) - np.uint64(1)
