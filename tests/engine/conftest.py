"""The installed engines for the differential tests: imported once, with their own warnings kept out of the tests."""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from collections.abc import Callable
from types import ModuleType

import pytest

Engine = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Return a function that imports a module of SGLang, or of a library that SGLang brings along."""
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")

    def load(name: str) -> ModuleType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)

    # The package whose import pulls in everything else; what it prints and warns about happens here, once.
    load("sglang.srt.layers.quantization")
    return load
