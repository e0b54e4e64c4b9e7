"""Writes the policy that a checkpoint already follows, in as few patterns as the names of its modules allow."""

from qpolicy.analysis.inference.infer import Inferred, infer
from qpolicy.analysis.inference.short import infer_with_facts

__all__ = ["Inferred", "infer", "infer_with_facts"]
