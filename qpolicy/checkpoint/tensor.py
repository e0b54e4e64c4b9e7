"""What a checkpoint stores, as plain values: one tensor, and one thing that is wrong with the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

_SHOWN = 20


class Tensor(NamedTuple):
    """One stored tensor, as its header describes it.

    A named tuple, because a checkpoint holds a hundred thousand of them.

    Attributes:
        name: The full name on disk.
        dtype: The element type in lower case (``"bf16"``, ``"f8_e4m3"``), or None where no header was read.
        shape: The size of each dimension, or None where no header was read.
        file: The name of the file that holds it, without its folder.
    """

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None
    file: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a checkpoint's files that still leaves a table to look at.

    Attributes:
        kind: ``missing-shard``, ``missing-tensor``, ``unknown-tensor``, ``misplaced-tensor``, ``double-tensor``,
            ``unlisted-shard``, ``several-indexes``, ``no-headers``, ``odd-name``, ``duplicate-key``,
            ``ignored-value``.
        message: What is wrong, in one sentence, and what follows from it.
        file: The file's name, without its folder.
        tensors: The tensors (for ``unlisted-shard`` and ``missing-shard`` the files) concerned, the first twenty.
        count: How many there are in all.
    """

    kind: str
    message: str
    file: str
    tensors: tuple[str, ...] = ()
    count: int = 0

    @classmethod
    def about(cls, kind: str, message: str, file: str, names: Iterable[str]) -> Problem:
        """Make a problem about these names, of which it keeps the first few and the count."""
        every = tuple(names)
        return cls(kind, message, file, tuple(islice(every, _SHOWN)), len(every))
