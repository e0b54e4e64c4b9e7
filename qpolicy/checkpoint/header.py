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

TENSOR_LIMIT = 1_000_000
"""The most tensors of one file; the largest published checkpoints have a tenth in all their files."""

_W = r"[ \t\r\n]*+"
_STRING = r'"([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"'
_NUMBER = r"(0|[1-9][0-9]{0,19})"
_OFFSETS = rf"\[{_W}{_NUMBER}{_W},{_W}{_NUMBER}{_W}\]"

# The order of keys that every known writer uses; any other order takes the slower way below.
_ENTRY = re.compile(
    rf'{_W}{_STRING}{_W}:{_W}\{{{_W}"dtype"{_W}:{_W}("[A-Z0-9_]{{1,32}}"{_W},'
    rf'{_W}"shape"{_W}:{_W}\[[0-9, \t\r\n]*+\]){_W},{_W}"data_offsets"{_W}:{_W}{_OFFSETS}{_W}\}}{_W}([,}}])'
)
_OPEN = re.compile(rf"{_W}\{{")
_EMPTY = re.compile(rf"{_W}\}}")
_KEY = re.compile(rf"{_W}{_STRING}{_W}:{_W}\{{")
_FIELD = re.compile(rf'{_W}{_STRING}{_W}:{_W}(?:{_STRING}|\[([^\[\]{{}}"]*+)\]){_W}([,}}])')
_AFTER = re.compile(rf"{_W}([,}}])")
_TEXT_FIELD = re.compile(rf"{_W}{_STRING}{_W}:{_W}{_STRING}{_W}([,}}])")

_SHORT = 200
_MOST_DIMENSIONS = 64
_ENTRY_FORM = '"NAME": {"dtype": "BF16", "shape": [...], "data_offsets": [BEGIN, END]}'
_AGAIN = "download the file again, or ask its publisher for a sound one"


def is_name(text: str) -> bool:
    """Whether a text can be a tensor's name: of a sane length, without control characters or lone surrogates."""
    return 0 < len(text) <= NAME_LIMIT and text.isprintable() and text != "__metadata__"


def _open(path: Path) -> IO[bytes]:
    return path.open("rb", buffering=0)


def read_header(path: Path, opener: Callable[[Path], IO[bytes]] = _open) -> Mapping[str, Tensor]:
    """Read the header of one safetensors file.

    Args:
        path: The file, or a link to it, as in a hub snapshot.
        opener: What opens it; tests pass one that guards the data.

    Returns:
        The tensors by full name, in header order.

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
        self.names_are_plain = self.text.isprintable() and "\\" not in self.text
        self.metadata_seen = False
        self.tensors: dict[str, Tensor] = {}
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.forms: dict[str, tuple[str, tuple[int, ...], int]] = {}

    def refuse(self, position: int, found: str, expected: str) -> NoReturn:
        _refuse(self.path, self.byte(position), found, expected)

    def byte(self, position: int) -> int:
        return 8 + (position if self.text.isascii() else len(self.text[:position].encode()))

    def excerpt(self, position: int) -> str:
        position += len(self.text[position : position + 40]) - len(self.text[position : position + 40].lstrip())
        part = self.text[position : position + 40]
        return ascii(part) if part else "the end of the header"

    def scan(self) -> Mapping[str, Tensor]:
        position = self.step(_OPEN, 0, "a JSON object").end()
        if (count := self.text.count('"data_offsets"')) > TENSOR_LIMIT:
            self.refuse(0, f"{count} tensors", f"at most {TENSOR_LIMIT} in one file")
        empty = _EMPTY.match(self.text, position)
        position = empty.end() if empty else self.scan_entries(position)
        if self.text[position:].strip(" \t\r\n"):
            self.refuse(position, self.excerpt(position), "only spaces after the last brace")
        if "__metadata__" in self.tensors:
            self.refuse(self.where("__metadata__"), "'__metadata__' as a tensor", "texts by key in it")
        self.check_spans()
        return self.tensors

    def scan_entries(self, position: int) -> int:
        """Read entry after entry; the loop runs once per tensor, so it holds what every tensor needs and no more."""
        text, file, match = self.text, self.path.name, _ENTRY.match
        tensors, forms, begins, ends = self.tensors, self.forms, self.begins, self.ends
        most = _SHORT if self.names_are_plain else 0
        closer = ","
        while closer == ",":
            entry = match(text, position)
            if entry is None:
                position, closer = self.slow_entry(position)
                continue
            name, form_text, begin, end, closer = entry.groups()
            form = forms.get(form_text) or self.form(position, form_text)
            dtype, shape, size = form
            first, last = int(begin), int(end)
            if name in tensors or last - first != size or not 0 < len(name) < most:
                name = self.check_entry(position, name, form, first, last)
            begins.append(first)
            ends.append(last)
            tensors[name] = Tensor(name, dtype, shape, file)
            position = entry.end()
        return position

    def step(self, expression: re.Pattern[str], position: int, expected: str) -> re.Match[str]:
        found = expression.match(self.text, position)
        if found is None:
            self.refuse(position, self.excerpt(position), expected)
        return found

    def check_entry(
        self, position: int, name: str, form: tuple[str, tuple[int, ...], int], first: int, last: int
    ) -> str:
        """Return the name, unescaped, or refuse the entry."""
        name = self.unescape(position, name)
        if name in self.tensors:
            self.refuse(position, f"the tensor {name!a} a second time", "every tensor once")
        if not is_name(name):
            self.refuse(position, f"the tensor name {_shorten(name)}", f"1 to {NAME_LIMIT} printable characters")
        dtype, shape, size = form
        if last - first != size:
            held = f"{last - first} bytes" if last >= first else "an end before the begin"
            wanted = f"{size} bytes for {dtype.upper()} and shape {list(shape)}"
            self.refuse(position, f"the offsets [{first}, {last}] of {name!a}, {held}", wanted)
        return name

    def form(self, position: int, text: str) -> tuple[str, tuple[int, ...], int]:
        """Read dtype and shape, and count the bytes; a header has few different ones."""
        quoted, _, rest = text.partition(",")
        dtype, shape = quoted.strip(" \t\r\n")[1:-1], rest[rest.index("[") + 1 : rest.rindex("]")]
        bits = BITS.get(dtype)
        if bits is None:
            self.refuse(position, f"the dtype {dtype!a} in {self.excerpt(position)}", f"one of {', '.join(BITS)}")
        try:
            sizes = tuple(_whole(part) for part in shape.split(",")) if shape.strip() else ()
        except ValueError:
            sizes = (-1,)
        if min(sizes, default=0) < 0 or len(sizes) > _MOST_DIMENSIONS:
            wanted = f"up to {_MOST_DIMENSIONS} whole numbers, none negative"
            self.refuse(position, f"the shape [{_shorten(shape)}] in {self.excerpt(position)}", wanted)
        size, odd_bits = divmod(prod(sizes) * bits, 8)
        if odd_bits:
            self.refuse(position, f"{dtype} of shape {list(sizes)}", "a shape that fills whole bytes")
        self.forms[text] = dtype.lower(), sizes, size
        return self.forms[text]

    def unescape(self, position: int, text: str) -> str:
        try:
            return str(json.loads(f'"{text}"')) if "\\" in text else text
        except ValueError:
            self.refuse(position, f"the text {_shorten(text)}", "a JSON string")

    def slow_entry(self, position: int) -> tuple[int, str]:
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
            fields[field[1]] = f"[{field[3]}]" if field[2] is None else f'"{field[2]}"'
            here, closer = field.end(), field[4]
        dtype, shape, offsets = (fields.get(name, "") for name in ("dtype", "shape", "data_offsets"))
        pair = re.fullmatch(_OFFSETS, offsets)
        if pair is None or not shape.startswith("[") or not dtype.startswith('"'):
            self.refuse(position, f"{key[1]!a} with data_offsets {_shorten(offsets)}", f"an entry {_ENTRY_FORM}")
        form, first, last = self.form(position, f"{dtype},{shape}"), int(pair[1]), int(pair[2])
        name = self.check_entry(position, key[1], form, first, last)
        self.begins.append(first)
        self.ends.append(last)
        self.tensors[name] = Tensor(name, form[0], form[1], self.path.name)
        after = self.step(_AFTER, here, "a comma or a closing brace")
        return after.end(), after[1]

    def read_metadata(self, position: int, here: int) -> tuple[int, str]:
        """Check the free texts and pass on; nothing here needs them."""
        if self.metadata_seen:
            self.refuse(position, "'__metadata__' a second time", "it once")
        self.metadata_seen, closer = True, ","
        if end := _EMPTY.match(self.text, here):
            here, closer = end.end(), "}"
        while closer == ",":
            field = self.step(_TEXT_FIELD, here, '"KEY": "TEXT" and nothing else in __metadata__')
            self.unescape(here, field[1]), self.unescape(here, field[2])
            here, closer = field.end(), field[3]
        after = self.step(_AFTER, here, "a comma or a closing brace")
        return after.end(), after[1]

    def check_spans(self) -> None:
        """Refuse tensors that overlap, gaps between them, and data that is too short or too long.

        The reference reader refuses gaps too (safetensors 0.8.0, safetensors/src/tensor.rs, Metadata::validate).
        """
        reached = self.ends[-1] if self.ends else 0
        if [0, *self.ends[:-1]] != self.begins:
            reached = self.check_unordered_spans()
        if reached != self.data_size:
            ends = 8 + len(self.text.encode()) + self.data_size
            _refuse(self.path, ends, f"{self.data_size} bytes of data", f"{reached}, as the header says")

    def check_unordered_spans(self) -> int:
        reached = 0
        for first, last, name in sorted(zip(self.begins, self.ends, self.tensors, strict=True)):
            if first != reached:
                what = "overlaps the tensor before it" if first < reached else "leaves a gap before it"
                self.refuse(self.where(name), f"{name!a} begins at {first} and {what}", f"{reached}")
            reached = last
        return reached

    def where(self, name: str) -> int:
        return max(self.text.find(json.dumps(name, ensure_ascii=False)), 0)


def _whole(text: str) -> int:
    """Read a number as JSON writes it; Python's own reader would take ``007`` and ``1_0`` too."""
    number = int(text)
    return number if text.strip(" \t\r\n") == str(number) else -1


def _shorten(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
