"""Zip files in plain Python: the same bytes everywhere, which zlib and its successors do not promise.

zlib-ng, which Fedora and Python 3.14 for Windows use, compresses the same text to other bytes than zlib.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Mapping

# APPNOTE.TXT 6.3.10, 4.3.7, 4.3.12 and 4.3.16: a member, its row in the directory, the end.
MEMBER, ROW, END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")
# 2.0, deflated, midnight of 1980-01-01; made on Unix; a plain file with rw-r--r--.
HOW, UNIX, PERMISSIONS = (20, 0, 8, 0, 33), 3 << 8 | 20, 0o100644 << 16
SHORTEST, LONGEST, FARTHEST = 3, 258, 32768
# How many earlier occurrences of the same three bytes are tried.
TRIES = 16
# RFC 1951, 3.2.5: where the code of each length and distance starts, and how many bits follow it.
LENGTHS = [(3 + number, 0) for number in range(8)]
for _bits in range(1, 6):
    LENGTHS += [(3 + (1 << _bits + 2) + (part << _bits), _bits) for part in range(4)]
LENGTHS[28:] = [(258, 0)]
DISTANCES = [(1 + number, 0) for number in range(4)]
for _bits in range(1, 14):
    DISTANCES += [(1 + (1 << _bits + 1) + (part << _bits), _bits) for part in range(2)]


def _reverse_bits(code: int, width: int) -> int:
    return int(f"{code:0{width}b}"[::-1], 2)


def _make_literal(symbol: int) -> tuple[int, int]:
    """The fixed code of RFC 1951, 3.2.6, in the order its bits are written, and its width."""
    starts = ((280, 0b11000000, 8), (256, 0, 7), (144, 0b110010000, 9), (0, 0b00110000, 8))
    first, code, width = next(row for row in starts if symbol >= row[0])
    return _reverse_bits(code + symbol - first, width), width


def _make_table(
    rows: list[tuple[int, int]], codes: list[tuple[int, int]], last: int
) -> list[tuple[int, int]]:
    """The bits of each value up to the last, and their number."""
    table = [(0, 0)] * (last + 1)
    ends = [start for start, _ in rows[1:]] + [last + 1]
    for (start, extra), end, (code, width) in zip(rows, ends, codes, strict=True):
        for value in range(start, min(end, last + 1)):
            table[value] = (code | value - start << width, width + extra)
    return table


LITERALS = [_make_literal(symbol) for symbol in range(286)]
OF_LENGTH = _make_table(LENGTHS, LITERALS[257:], LONGEST)
OF_DISTANCE = _make_table(DISTANCES, [(_reverse_bits(code, 5), 5) for code in range(30)], FARTHEST)


def zip_members(members: Mapping[str, bytes]) -> bytes:
    """A zip file of members in their order."""
    body, directory = bytearray(), bytearray()
    for name, data in members.items():
        packed, spelled = deflate(data), name.encode("ascii")
        sizes = (zlib.crc32(data), len(packed), len(data), len(spelled))
        directory += ROW.pack(b"PK\1\2", UNIX, *HOW, *sizes, 0, 0, 0, 0, PERMISSIONS, len(body)) + spelled
        body += MEMBER.pack(b"PK\3\4", *HOW, *sizes, 0) + spelled + packed
    end = END.pack(b"PK\5\6", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return bytes(body + directory + end)


def deflate(data: bytes) -> bytes:
    """The data as one block with fixed codes (RFC 1951)."""
    # Its header: the last block, of the kind with fixed codes.
    bits, width = 0b011, 3
    out = bytearray()
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    position = 0
    while position < len(data):
        start = data[position : position + SHORTEST]
        length, distance = _find_match(data, position, places[start]) if start in places else (0, 0)
        for code, bit_count in (
            (OF_LENGTH[length], OF_DISTANCE[distance]) if length else (LITERALS[data[position]],)
        ):
            bits |= code << width
            width += bit_count
        for place in range(position, position + (length or 1)):
            places[data[place : place + SHORTEST]].append(place)
        position += length or 1
        # An integer of this size is shifted as fast as a small one.
        while width >= 512:
            out += (bits & (1 << 512) - 1).to_bytes(64, "little")
            bits >>= 512
            width -= 512
    width += LITERALS[256][1]
    return bytes(out) + bits.to_bytes((width + 7) // 8, "little")


def _find_match(data: bytes, position: int, places: list[int]) -> tuple[int, int]:
    """The longest earlier occurrence, and how far back; (0, 0) for none."""
    best, distance = 0, 0
    most = min(LONGEST, len(data) - position)
    for place in places[: -TRIES - 1 : -1]:
        if position - place > FARTHEST:
            break
        # A longer match has the next byte too.
        if data[place + best] != data[position + best]:
            continue
        length = _count_alike(data, place, position, most)
        if length > best:
            best, distance = length, position - place
            if best == most:
                break
    return (best, distance) if best >= SHORTEST else (0, 0)


def _count_alike(data: bytes, start: int, other_start: int, most: int) -> int:
    low = 0
    while (
        low < most and data[start + low : start + low + 8] == data[other_start + low : other_start + low + 8]
    ):
        low += 8
    while low < most and data[start + low] == data[other_start + low]:
        low += 1
    return min(low, most)
