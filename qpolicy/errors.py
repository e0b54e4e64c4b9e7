"""The errors that a user may see, each with the exit code that the command line gives it.

Every message says what is wrong, where, and what to do about it; the classes only sort them.
"""

from __future__ import annotations


class QPolicyError(Exception):
    """Wrong use or broken input. The base of every error that qpolicy raises on purpose.

    Attributes:
        exit_code: What the command line exits with when this error reaches it.
    """

    exit_code = 2


class NothingToCheckError(QPolicyError):
    """The input holds nothing that qpolicy can look at, such as a folder with only GGUF files."""

    exit_code = 3


class CheckpointError(QPolicyError):
    """A checkpoint file is broken or hostile; the message names the file and the byte offset."""


class BindError(QPolicyError):
    """A policy does not fit the checkpoint or the engine that it is bound to."""


class MixedMembers(QPolicyError):  # noqa: N818 - the public name, it reads as a fact about the layer
    """An engine would refuse a fused layer because its list excludes some members and not others.

    Attributes:
        module: The engine's name of the fused layer.
        excluded: The members that the list excludes.
        kept: The members that it does not.
    """

    def __init__(self, module: str, excluded: tuple[str, ...], kept: tuple[str, ...], reason: str) -> None:
        super().__init__(reason)
        self.module = module
        self.excluded = excluded
        self.kept = kept
