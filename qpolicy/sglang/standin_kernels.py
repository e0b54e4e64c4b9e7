"""SGLang's kernel packages in a process without a driver: loaded if installed, otherwise stood in for."""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import os
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KERNELS = "sgl_kernel"
STANDS = ("sgl_kernel", "deep_gemm", "quack", "cutlass", "cuda", "bitsandbytes")
"""Packages of kernels, which build no layer but are imported by the files that do."""

_ANSWERS = {"deep_gemm.get_num_sms": 132}

_DRIVER = "int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer) { return 100; }\n"
_NOT_REAL = (
    "SGLang's kernel package is not installed: classes and schemes are those of the CUDA path, but whether a kernel "
    "exists for them was not asked (pip install --no-deps sglang-kernel)"
)


class Kernel:
    """Stands for a kernel, a class or a constant of a package that is not there; it can be named, never run."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **_options: Any) -> Any:
        """Decorate a function by leaving it as it is; whatever else is called gives a name, never a result."""
        if len(args) == 1 and isinstance(args[0], types.FunctionType | type):
            return args[0]
        return _ANSWERS.get(self.__name__, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.__name__}.{name}")

    def __getitem__(self, _item: Any) -> Kernel:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    def _self(self, _other: Any = None) -> Kernel:
        return self

    # Types and constants of kernel packages stand in annotations and in sums of a module's top level.
    __or__ = __ror__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _self
    __floordiv__ = __rfloordiv__ = __neg__ = _self

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)


class _Package(types.ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__version__ = "999"
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.__name__}.{name}")


class _Stand(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self._packages:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Package(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def start() -> str:
    """Load or stand in for the kernel packages.

    Returns:
        What is not as on a real machine; empty when the real packages are there.
    """
    missing = [package for package in STANDS if find_spec(package) is None]
    real = KERNELS not in missing and _load_driver()
    if not real and KERNELS not in missing:
        missing.append(KERNELS)
    if missing:
        sys.meta_path.append(_Stand(missing)) if real else sys.meta_path.insert(0, _Stand(missing))
    return "" if real else _NOT_REAL


def _load_driver() -> bool:
    """Load the driver library, or one that has the single function that the kernels link; False without a compiler."""
    try:
        ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        compiler = shutil.which(os.environ.get("CC", "cc"))
        return compiler is not None and _compile_driver(compiler)
    return True


def _compile_driver(compiler: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "cuda.c"), Path(folder, "libcuda.so.1")
        source.write_text(_DRIVER, encoding="ascii")
        command = [compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(source)]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            return False
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    return True
