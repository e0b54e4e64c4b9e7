"""Reads the header of a safetensors file, and not one byte of its data.

A file is an eight-byte little-endian length N, N bytes of JSON, then the data. The JSON is scanned with one
expression per tensor rather than parsed as JSON in general: a header has a single possible shape, so a scanner that
knows it takes time and memory in proportion to the tensors, whatever a stranger wrote, and knows the byte offset of
everything it refuses.
"""

from __future__ import annotations

import json
import re
import stat
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, NoReturn

from qpolicy.checkpoint.dtypes import BITS
from qpolicy.checkpoint.tensor import Tensor
from qpolicy.errors import CheckpointError

LENGTH_LIMIT = 100_000_000
"""The most bytes that the format allows a header (safetensors 0.8.0, safetensors/src/tensor.rs, MAX_HEADER_SIZE)."""

NAME_LIMIT = 1024
"""The most characters of a tensor's name; real ones stay below two hundred."""

_W = r"[ \t\r\n]*+"
_STRING = r'"([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"'
_OFFSETS = rf"\[{_W}([0-9]{{1,20}}){_W},{_W}([0-9]{{1,20}}){_W}\]"

# The order of keys that every known writer uses; any other order takes the slower way below.
_ENTRY = re.compile(
    rf'{_W}{_STRING}{_W}:{_W}\{{{_W}"dtype"{_W}:{_W}"([A-Z0-9_]{{1,32}})"{_W},'
    rf'{_W}"shape"{_W}:{_W}\[([0-9, \t\r\n]*+)\]{_W},{_W}"data_offsets"{_W}:{_W}{_OFFSETS}{_W}\}}{_W}([,}}])'
)
_OPEN = re.compile(rf"{_W}\{{")
_EMPTY = re.compile(rf"{_W}\}}")
_KEY = re.compile(rf"{_W}{_STRING}{_W}:{_W}\{{")
_FIELD = re.compile(rf'{_W}{_STRING}{_W}:{_W}(?:{_STRING}|\[([^\[\]{{}}"]*+)\]){_W}([,}}])')
_AFTER = re.compile(rf"{_W}([,}}])")
_BLANK = re.compile(_W)

_ENTRY_FORM = '"NAME": {"dtype": "BF16", "shape": [...], "data_offsets": [BEGIN, END]}'
_AGAIN = "download the file again, or ask its publisher for a sound one"


@dataclass(frozen=True, slots=True)
class Header:
    """What one safetensors file says about itself.

    Attributes:
        metadata: The free texts under ``__metadata__``.
        tensors: The tensors by full name, in header order.
    """

    metadata: Mapping[str, str]
    tensors: Mapping[str, Tensor]


def is_name(text: str) -> bool:
    """Whether a text can be a tensor's name: of a sane length, without control characters or lone surrogates."""
    return 0 < len(text) <= NAME_LIMIT and text.isprintable() and text != "__metadata__"


def _open(path: Path) -> IO[bytes]:
    return path.open("rb", buffering=0)


def read_header(path: Path, opener: Callable[[Path], IO[bytes]] = _open) -> Header:
    """Read the header of one safetensors file.

    Args:
        path: The file, or a link to it, as in a hub snapshot.
        opener: What opens it; tests pass one that guards the data.

    Returns:
        The header.

    Raises:
        CheckpointError: The file cannot be read or is not a sound safetensors file. The message names the file, the
            byte, what was expected, and what to do.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"{path}: not a regular file; expected a safetensors file or a link to one")
        with opener(path) as file:
            raw = _read_raw(path, file, status.st_size)
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be read: {error.strerror or error}; check the path and its rights"
        ) from None
    return _Scanner(path, raw, status.st_size).scan()


def _read_raw(path: Path, file: IO[bytes], size: int) -> bytes:
    if size < 8:
        _refuse(path, size, f"the file ends after {size} bytes", "an eight-byte header length")
    (length,) = struct.unpack("<Q", _read_exactly(path, file, 0, 8))
    if length > LENGTH_LIMIT:
        _refuse(path, 0, f"a header of {length} bytes", f"at most {LENGTH_LIMIT}, which is the format's limit")
    if length > size - 8:
        _refuse(
            path, 0, f"a header of {length} bytes in a file of {size}", f"at most {size - 8}: the file is truncated"
        )
    return _read_exactly(path, file, 8, length)


def _read_exactly(path: Path, file: IO[bytes], offset: int, count: int) -> bytes:
    parts: list[bytes] = []
    missing = count
    while missing:
        part = file.read(missing)
        if not part:
            _refuse(path, offset + count - missing, "the file ends here", f"{missing} bytes more")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _refuse(path: Path, offset: int, found: str, expected: str, fix: str = _AGAIN) -> NoReturn:
    raise CheckpointError(f"{path}: byte {offset}: {found}; expected {expected}; {fix}")


class _Scanner:
    """One walk over one header's text. Positions are characters; messages speak of bytes."""

    def __init__(self, path: Path, raw: bytes, size: int) -> None:
        self.path = path
        self.data_size = size - 8 - len(raw)
        try:
            self.text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            _refuse(path, 8 + error.start, f"the byte 0x{raw[error.start]:02x}", "UTF-8 text")
        self.metadata: dict[str, str] | None = None
        self.tensors: dict[str, Tensor] = {}
        self.spans: list[tuple[int, int, str]] = []
        self.forms: dict[tuple[str, str], tuple[str, tuple[int, ...], int]] = {}

    def refuse(self, position: int, found: str, expected: str) -> NoReturn:
        _refuse(self.path, self.byte(position), found, expected)

    def byte(self, position: int) -> int:
        return 8 + (position if self.text.isascii() else len(self.text[:position].encode()))

    def excerpt(self, position: int) -> str:
        position = _end(_BLANK.match(self.text, position))
        part = self.text[position : position + 40]
        return ascii(part) if part else "the end of the header"

    def scan(self) -> Header:
        position = self.step(_OPEN, 0, "a JSON object").end()
        if end := _EMPTY.match(self.text, position):
            position, more = end.end(), False
        else:
            more = True
        file = self.path.name
        while more:
            if entry := _ENTRY.match(self.text, position):
                name, dtype, shape, begin, end_, closer = entry.groups()
                self.add(position, name, dtype, shape, begin, end_, file)
                position = entry.end()
            else:
                position, closer = self.slow_entry(position, file)
            more = closer == ","
        if self.text[position:].strip(" \t\r\n"):
            self.refuse(position, self.excerpt(position), "only spaces after the last brace")
        self.check_spans()
        return Header(self.metadata or {}, self.tensors)

    def step(self, expression: re.Pattern[str], position: int, expected: str) -> re.Match[str]:
        found = expression.match(self.text, position)
        if found is None:
            self.refuse(position, self.excerpt(position), expected)
        return found

    def add(self, position: int, name: str, dtype: str, shape: str, begin: str, end: str, file: str) -> None:
        if "\\" in name:
            name = self.unescape(position, name)
        if name in self.tensors:
            self.refuse(position, f"the tensor {name!a} a second time", "every tensor once")
        if not is_name(name):
            self.refuse(position, f"the tensor name {_shorten(name)}", f"1 to {NAME_LIMIT} printable characters")
        form = self.forms.get((dtype, shape))
        if form is None:
            form = self.forms[dtype, shape] = self.form(position, name, dtype, shape)
        first, last = int(begin), int(end)
        if last - first != form[2]:
            held = f"{last - first} bytes" if last >= first else "an end before the begin"
            self.refuse(
                position,
                f"the offsets [{first}, {last}] of {name!a}, {held}",
                f"{form[2]} bytes for {dtype} and shape {list(form[1])}",
            )
        self.spans.append((first, last, name))
        self.tensors[name] = Tensor(name, form[0], form[1], file)

    def form(self, position: int, name: str, dtype: str, shape: str) -> tuple[str, tuple[int, ...], int]:
        bits = BITS.get(dtype)
        if bits is None:
            self.refuse(position, f"the dtype {dtype!a} of {name!a}", f"one of {', '.join(BITS)}")
        try:
            sizes = tuple(int(part) for part in shape.split(",")) if shape.strip() else ()
        except ValueError:
            sizes = (-1,)
        if min(sizes, default=0) < 0 or len(sizes) > 64:
            self.refuse(position, f"the shape [{_shorten(shape)}] of {name!a}", "up to 64 whole numbers, none negative")
        size, rest = divmod(prod(sizes) * bits, 8)
        if rest:
            self.refuse(position, f"{name!a}, {dtype} of shape {list(sizes)}", "a shape that fills whole bytes")
        return dtype.lower(), sizes, size

    def unescape(self, position: int, text: str) -> str:
        try:
            return str(json.loads(f'"{text}"'))
        except ValueError:
            self.refuse(position, f"the text {_shorten(text)}", "a JSON string")

    def slow_entry(self, position: int, file: str) -> tuple[int, str]:
        """Read ``__metadata__``, or a tensor whose keys come in another order; refuse anything else."""
        key = self.step(_KEY, position, f"an entry {_ENTRY_FORM}")
        if key[1] == "__metadata__":
            return self.read_metadata(position, key.end())
        fields: dict[str, str] = {}
        here, closer = key.end(), ","
        while closer == ",":
            field = self.step(_FIELD, here, f"an entry {_ENTRY_FORM}")
            if field[1] in fields or len(fields) == 3:
                self.refuse(here, f"the key {_shorten(field[1])}", "dtype, shape and data_offsets, each once")
            fields[field[1]] = field[2] if field[3] is None else f"[{field[3]}]"
            here, closer = field.end(), field[4]
        dtype, shape, offsets = (fields.get(name, "") for name in ("dtype", "shape", "data_offsets"))
        pair = re.fullmatch(_OFFSETS, offsets)
        if pair is None or not shape.startswith("[") or not dtype or dtype.startswith("["):
            self.refuse(position, f"{key[1]!a} with data_offsets {_shorten(offsets)}", f"an entry {_ENTRY_FORM}")
        self.add(position, key[1], dtype, shape[1:-1], pair[1], pair[2], file)
        after = self.step(_AFTER, here, "a comma or a closing brace")
        return after.end(), after[1]

    def read_metadata(self, position: int, here: int) -> tuple[int, str]:
        if self.metadata is not None:
            self.refuse(position, "'__metadata__' a second time", "it once")
        self.metadata = {}
        if end := _EMPTY.match(self.text, here):
            here, closer = end.end(), "}"
        else:
            closer = ","
        while closer == ",":
            field = self.step(_FIELD, here, '"KEY": "TEXT", nothing else, in __metadata__')
            if field[2] is None:
                self.refuse(here, self.excerpt(here), '"KEY": "TEXT", nothing else, in __metadata__')
            self.metadata[self.unescape(here, field[1])] = self.unescape(here, field[2])
            here, closer = field.end(), field[4]
        after = self.step(_AFTER, here, "a comma or a closing brace")
        return after.end(), after[1]

    def check_spans(self) -> None:
        """Refuse tensors that overlap, gaps between them, and data that is too short or too long.

        The reference reader refuses gaps too (safetensors 0.8.0, safetensors/src/tensor.rs, Metadata::validate).
        """
        reached = 0
        for first, last, name in sorted(self.spans):
            if first != reached:
                what = "overlaps the tensor before it" if first < reached else "leaves a gap before it"
                self.refuse(self.where(name), f"{name!a} begins at {first} and {what}", f"{reached}")
            reached = last
        if reached != self.data_size:
            ends = 8 + len(self.text.encode()) + self.data_size
            _refuse(self.path, ends, f"{self.data_size} bytes of data", f"{reached}, as the header says")

    def where(self, name: str) -> int:
        return max(self.text.find(json.dumps(name, ensure_ascii=False)), 0)


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0


def _shorten(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
