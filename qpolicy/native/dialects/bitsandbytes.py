"""The dialect of bitsandbytes, as transformers writes it."""

from __future__ import annotations

from qpolicy.native.published import Names, Published


class BitsAndBytes(Published):
    """A published bitsandbytes config."""

    DIALECT = "bitsandbytes"
    METHODS = ("bitsandbytes",)
    LISTS = ("llm_int8_skip_modules",)
    llm_int8_skip_modules: Names = None
