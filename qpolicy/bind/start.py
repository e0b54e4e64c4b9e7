"""Where a policy meets a checkpoint and an asker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qpolicy.bind.matcher import Matcher
from qpolicy.bind.passes import Binding, bind_all
from qpolicy.bind.world import World
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import BindError
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Document
from qpolicy.native import engines_and_versions, knows_engine


def matcher_of(
    document: Document,
    source: Source,
    checkpoint: Checkpoint | None,
    engine: str,
    *,
    draft: bool,
    packed: Mapping[str, Sequence[str]] | None,
    strict: bool,
    draft_layer: int,
) -> Matcher:
    """Return the matcher of :meth:`qpolicy.bind.Policy.bind`, which describes the arguments.

    Raises:
        BindError: The policy does not fit the checkpoint, or the engine is unknown.
    """
    if not knows_engine(engine):
        raise BindError(f"engine '{engine}' is not known; known: {'; '.join(engines_and_versions())}")
    if packed is None:
        world = World.known(checkpoint, engine, draft, strict)
    else:
        world = World(checkpoint, engine, draft, packed, strict)
    return Matcher(bind_all(Binding.start(document, source, world)), draft_layer)
