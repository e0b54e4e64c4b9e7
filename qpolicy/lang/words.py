"""The words of the language, as tables, and the search for the word that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

RESERVED: tuple[str, ...] = (
    "qpolicy",
    "let",
    "drop",
    "if",
    "when",
    "otherwise",
    "expect",
    "and",
    "or",
    "not",
    "in",
)
"""Never a bare one-segment pattern or a bare set name."""

DECISIONS: tuple[str, ...] = ("unquantized", "quantized", "native", "error")
OUTCOMES: tuple[str, ...] = ("unquantized", "quantized", "error")
ASKERS: tuple[str, ...] = ("draft", "target")
KINDS: tuple[str, ...] = ("linear", "moe", "lm_head", "embedding")

DTYPES: tuple[str, ...] = (
    *("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"),
    *("f16", "bf16", "f32", "f64", "c64"),
    *("f4", "f6_e2m3", "f6_e3m2", "f8_e4m3", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz", "f8_e8m0"),
)
"""The dtype names of safetensors headers in small letters (safetensors: safetensors/src/tensor.rs, enum Dtype)."""

DTYPE_ALIASES: dict[str, str] = {
    "bfloat16": "bf16",
    "float16": "f16",
    "half": "f16",
    "fp16": "f16",
    "float32": "f32",
    "float": "f32",
    "fp32": "f32",
    "float64": "f64",
    "double": "f64",
    "fp8": "f8_e4m3",
    "float8": "f8_e4m3",
    "float8_e4m3fn": "f8_e4m3",
    "f8_e4m3fn": "f8_e4m3",
    "float8_e5m2": "f8_e5m2",
    "float8_e8m0fnu": "f8_e8m0",
    "fp4": "f4",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
}
"""What other tools call these dtypes, for the hint only."""

_LONGEST = 60
_CANDIDATES = 2000


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that a misspelt word was most likely meant to be, or None.

    The work is bounded: very long words have no neighbour, and of very many candidates only the first are tried.
    """
    if not word or len(word) > _LONGEST:
        return None
    found = difflib.get_close_matches(word.lower(), list(islice(candidates, _CANDIDATES)), n=1, cutoff=0.65)
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str], prefix: str = "") -> str | None:
    """Return the hint ``did you mean ...?`` for the nearest candidate, or None."""
    match = nearest(word, candidates)
    return f"did you mean `{prefix}{match}`?" if match else None


def shown(text: str) -> str:
    """Return a piece of the text for use inside a message: on one line, in backquotes, cut when it is long."""
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"
