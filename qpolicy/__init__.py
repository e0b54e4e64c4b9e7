"""Decide, layer by layer, which parts of a quantized checkpoint stay unquantized.

The whole surface is here: :func:`load` or :func:`parse` a policy, :func:`open_checkpoint`, ``policy.bind(...)``, and
``matcher.decide(name)``. :func:`native_list` reads the list in a checkpoint's own config.
"""

from typing import TYPE_CHECKING

from qpolicy.lazy import lazily

if TYPE_CHECKING:
    from qpolicy.bind import BoundRule, Decision, Matcher, Member, Policy, load, parse
    from qpolicy.checkpoint import Checkpoint, open_checkpoint
    from qpolicy.errors import BindError, CheckpointError, MixedMembers, NothingToCheckError, QPolicyError
    from qpolicy.native import native_list

__version__ = "0.1.0"

__all__ = [
    "BindError",
    "BoundRule",
    "Checkpoint",
    "CheckpointError",
    "Decision",
    "Matcher",
    "Member",
    "MixedMembers",
    "NothingToCheckError",
    "Policy",
    "QPolicyError",
    "load",
    "native_list",
    "open_checkpoint",
    "parse",
]

# `qpolicy fmt` and `qpolicy --help` need none of the rooms behind these names.
__getattr__ = lazily(
    __name__,
    {
        "qpolicy.bind": ("BoundRule", "Decision", "Matcher", "Member", "Policy", "load", "parse"),
        "qpolicy.checkpoint": ("Checkpoint", "open_checkpoint"),
        "qpolicy.errors": ("BindError", "CheckpointError", "MixedMembers", "NothingToCheckError", "QPolicyError"),
        "qpolicy.native": ("native_list",),
    },
)
