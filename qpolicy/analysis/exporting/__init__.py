"""Turns a policy's decisions on a checkpoint into the list of a native dialect."""

from qpolicy.analysis.exporting.errors import CannotSayError
from qpolicy.analysis.exporting.exported import Exported, export
from qpolicy.analysis.exporting.slots import SLOTS

__all__ = ["SLOTS", "CannotSayError", "Exported", "export"]
