"""A checkpoint without its weights: headers, config files, the table of stored modules."""

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
