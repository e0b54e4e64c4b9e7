"""A checkpoint without its weights: headers, config files, the table of stored modules."""

from typing import TYPE_CHECKING

from qpolicy.lazy import lazily

if TYPE_CHECKING:
    from qpolicy.checkpoint.checkpoint import Checkpoint, draft_patterns, open_checkpoint
    from qpolicy.checkpoint.config import quantization_in
    from qpolicy.checkpoint.dtypes import DTYPES
    from qpolicy.checkpoint.families import FUSED, container_of, fused_names, fused_of
    from qpolicy.checkpoint.modules import Kind, StoredModule
    from qpolicy.checkpoint.tensor import Problem, Tensor

__all__ = [
    "DTYPES",
    "FUSED",
    "Checkpoint",
    "Kind",
    "Problem",
    "StoredModule",
    "Tensor",
    "container_of",
    "draft_patterns",
    "fused_names",
    "fused_of",
    "open_checkpoint",
    "quantization_in",
]

# What a policy alone needs, the names of drafts and families, comes without the readers of files.
__getattr__ = lazily(
    __name__,
    {
        "qpolicy.checkpoint.checkpoint": ("Checkpoint", "draft_patterns", "open_checkpoint"),
        "qpolicy.checkpoint.config": ("quantization_in",),
        "qpolicy.checkpoint.dtypes": ("DTYPES",),
        "qpolicy.checkpoint.families": ("FUSED", "container_of", "fused_names", "fused_of"),
        "qpolicy.checkpoint.modules": ("Kind", "StoredModule"),
        "qpolicy.checkpoint.tensor": ("Problem", "Tensor"),
    },
)
