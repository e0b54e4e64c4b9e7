"""A policy: a parsed file that can be bound to a checkpoint and an asker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from qpolicy.bind.check import POLICY_PASSES, pattern_issues
from qpolicy.bind.files import read_policy
from qpolicy.lang import PolicySyntaxError, decode
from qpolicy.lang import parse as parse_document
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Document

if TYPE_CHECKING:
    from qpolicy.bind.matcher import Matcher
    from qpolicy.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that parsed whole, with every pattern and every set checked.

    Attributes:
        document: The syntax tree.
        source: The text it was read from.
    """

    document: Document
    source: Source

    def bind(
        self,
        checkpoint: Checkpoint | None,
        *,
        engine: str = "sglang",
        draft: bool = False,
        packed: Mapping[str, Sequence[str]] | None = None,
        strict: bool = False,
        draft_layer: int = 0,
    ) -> Matcher:
        """Return the matcher that decides modules for one checkpoint and one asker.

        Args:
            checkpoint: The checkpoint, or None; facts about tensors and lists are unknown without one.
            engine: Who asks.
            draft: Whether the model under construction is the speculative draft.
            packed: Fused name to the names of its parts, as the engine's model class has it; by default what
                the table of architectures says, and the families that are common to the known model classes.
            strict: Make an unknown condition an error where that rule would have decided otherwise.
            draft_layer: The number of the draft layer under construction, of a draft that the engine builds layer by
                layer: each asks by the same names for tensors of its own.

        Raises:
            BindError: The policy does not fit: it names a scheme that the checkpoint lacks, or the engine is unknown.
        """
        from qpolicy.bind.start import matcher_of  # noqa: PLC0415 - a policy is looked at without a checkpoint, too

        return matcher_of(
            self.document,
            self.source,
            checkpoint,
            engine,
            draft=draft,
            packed=packed,
            strict=strict,
            draft_layer=draft_layer,
        )


def parse(text: str, *, filename: str = "<policy>") -> Policy:
    """Read a policy from its text.

    Args:
        text: The policy.
        filename: What messages call it.

    Raises:
        PolicySyntaxError: With every mistake found, each with its line, column and a fix.
    """
    source = Source(filename, text)
    document = _document(source)
    for step in POLICY_PASSES:
        document = step(document, source)
    return Policy(document, source)


def _document(source: Source) -> Document:
    try:
        return parse_document(source)
    except PolicySyntaxError as error:
        # The statements that could be read may hold malformed patterns: one run reports all mistakes of a file.
        broken = {issue.span.start for issue in error.errors}
        more = (issue for issue in pattern_issues(error.statements, source) if issue.span.start not in broken)
        raise PolicySyntaxError(sorted((*error.errors, *more), key=lambda issue: issue.span.start)) from None


def load(path: str | Path) -> Policy:
    """Read a policy file.

    Raises:
        PolicySyntaxError: The file is not a policy; all mistakes are listed.
        QPolicyError: The file cannot be read.
    """
    source = decode(read_policy(Path(path)), str(path))
    return parse(source.text, filename=source.name)


@cache
def no_policy() -> Policy:
    """Return the policy that decides nothing: the checkpoint's own list alone."""
    return parse("qpolicy 1\n", filename="(no policy)")
