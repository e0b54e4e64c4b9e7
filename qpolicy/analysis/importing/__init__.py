"""Turns a native list into a policy that a person can read."""

from qpolicy.analysis.importing.imported import Imported, import_config, import_list

__all__ = ["Imported", "import_config", "import_list"]
