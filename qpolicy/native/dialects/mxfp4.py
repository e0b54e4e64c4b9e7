"""The dialect of MXFP4 experts, as gpt-oss publishes it."""

from __future__ import annotations

from qpolicy.native.published import Names, Published


class Mxfp4(Published):
    """A published MXFP4 config."""

    DIALECT = "mxfp4"
    METHODS = ("mxfp4",)
    LISTS = ("modules_to_not_convert",)
    modules_to_not_convert: Names = None
