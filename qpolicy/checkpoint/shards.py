"""Finds a checkpoint's safetensors files, reads their headers, and compares them with the index.

Which files count: those that the index lists, as engines do (SGLang 0.5.23, srt/model_loader/weight_utils.py,
``filter_duplicate_safetensors_files``). Of several indexes ``model.safetensors.index.json`` counts, else the first by
name, Mistral's ``consolidated.safetensors.index.json`` last. Without an index every ``*.safetensors`` file counts, in
the order of names, except ``consolidated*.safetensors`` beside others: that is the same model a second time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qpolicy.checkpoint.config import duplicate_keys
from qpolicy.checkpoint.header import NAME_LIMIT, is_name, read_header
from qpolicy.checkpoint.jsonfile import read_object
from qpolicy.checkpoint.tensor import Problem, Tensor
from qpolicy.errors import CheckpointError, NothingToCheckError

_INDEX = ".safetensors.index.json"
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".gguf", ".ggml", ".ckpt", ".npz", ".h5", ".msgpack", ".onnx", ".tflite")
_NUMBERED = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.safetensors")


@dataclass(frozen=True, slots=True)
class Stored:
    """What a checkpoint's files hold.

    Attributes:
        tensors: Every tensor by full name, file after file. A tensor that only the index knows, because its shard is
            not there, has no dtype and no shape.
        problems: Where index and files disagree.
        headers: Whether every tensor's header was read.
    """

    tensors: Mapping[str, Tensor]
    problems: tuple[Problem, ...]
    headers: bool


def read_stored(folder: Path, has_config: bool) -> Stored:
    """Read the headers of a checkpoint folder.

    Args:
        folder: The folder.
        has_config: Whether it holds a config file, so that a folder without tensors is still something to look at.

    Returns:
        The tensors and what is wrong with them.

    Raises:
        CheckpointError: A file is broken or hostile.
        NothingToCheckError: The folder holds weights only in other formats, or neither tensors nor config.
    """
    names = sorted(entry.name for entry in folder.iterdir())
    shards = [name for name in names if name.endswith(".safetensors") and (folder / name).is_file()]
    indexes = sorted((name for name in names if name.endswith(_INDEX)), key=_rank_of_index)
    if indexes:
        return _read_with_index(folder, indexes, shards)
    if shards:
        return _read_without_index(folder, shards)
    _check_something_is_there(folder, names, has_config)
    return Stored({}, (), True)


def _check_something_is_there(folder: Path, names: Sequence[str], has_config: bool) -> None:
    others = [name for name in names if name.endswith(_OTHER_WEIGHTS)]
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        raise NothingToCheckError(
            f"{folder}: no safetensors file, only {shown}; expected *.safetensors; convert the checkpoint to it first"
        )
    if not has_config:
        held = "an empty folder" if not names else "neither a safetensors file nor a config.json"
        raise NothingToCheckError(f"{folder}: {held}; expected the folder of a checkpoint")


def _rank_of_index(name: str) -> tuple[bool, bool, str]:
    return name != f"model{_INDEX}", name.startswith("consolidated"), name


def _read_without_index(folder: Path, shards: Sequence[str]) -> Stored:
    others = [name for name in shards if not name.startswith("consolidated")]
    used = others or list(shards)
    tensors: dict[str, Tensor] = {}
    double: list[str] = []
    for file in used:
        read = read_header(folder / file)
        double += tensors.keys() & read.keys()
        tensors.update(read)
    problems = _unnumbered(used)
    if double:
        message = f"{_count(double, 'tensor')} stored in more than one file; the last file counts"
        problems.append(Problem.about("double-tensor", message, tensors[double[0]].file, sorted(double)))
    return Stored(tensors, tuple(problems), True)


def _unnumbered(files: Sequence[str]) -> list[Problem]:
    """The shards that the numbers in the other shards' names say should be there."""
    missing: list[str] = []
    numbers: dict[tuple[str, str], set[int]] = {}
    for file in files:
        if found := _NUMBERED.fullmatch(file):
            numbers.setdefault((found[1], found[3]), set()).add(int(found[2]))
    for (stem, total), present in numbers.items():
        missing += [f"{stem}-{i:05}-of-{total}.safetensors" for i in range(1, int(total) + 1) if i not in present]
    if not missing:
        return []
    message = f"{_count(missing, 'shard')} missing, by the numbers in the names of the others; download them"
    return [Problem.about("missing-shard", message, missing[0], missing)]


def _read_with_index(folder: Path, indexes: Sequence[str], shards: Sequence[str]) -> Stored:
    index = indexes[0]
    weight_map, problems = _read_index(folder / index)
    if len(indexes) > 1:
        message = f"{len(indexes)} index files; {index} is used, {', '.join(indexes[1:4])} is not"
        problems.append(Problem.about("several-indexes", message, index, indexes))
    listed, there = sorted(set(weight_map.values())), set(shards)
    missing = [file for file in listed if file not in there]
    read = {file: read_header(folder / file) for file in listed if file in there}
    problems += _shard_problems(folder, index, listed, missing, shards)
    merged = _Merge(weight_map, read)
    for file in listed:
        merged.add(file)
    merged.finish(folder / index)
    return Stored(merged.tensors, tuple(problems + merged.problems(index)), not missing)


def _read_index(path: Path) -> tuple[dict[str, str], list[Problem]]:
    content, duplicates = read_object(path)
    weight_map = content.get("weight_map")
    if not isinstance(weight_map, dict) or set(map(type, weight_map.values())) - {str}:
        raise CheckpointError(
            f'{path}: no sound weight_map; expected {{"weight_map": {{"TENSOR": "FILE.safetensors"}}}}; '
            "download the index again or write it anew"
        )
    for file in dict.fromkeys(weight_map.values()):
        _check_file_name(path, file)
    return weight_map, [duplicate_keys(path.name, duplicates)] if duplicates else []


def _check_file_name(path: Path, file: Any) -> None:
    plain = file.isprintable() and not set(file) & set("/\\:") and len(file) <= 255
    if not plain or not file.endswith(".safetensors"):
        raise CheckpointError(
            f"{path}: weight_map names the file {file[:80]!a}; expected a *.safetensors file in the same folder, "
            "without a path"
        )


def _shard_problems(
    folder: Path, index: str, listed: Sequence[str], missing: Sequence[str], shards: Sequence[str]
) -> list[Problem]:
    problems = []
    if missing:
        dangling = any((folder / file).is_symlink() for file in missing)
        why = " (links to files that are not there)" if dangling else ""
        message = (
            f"{_count(missing, 'shard')} listed in {index} but missing{why}; download them, no engine loads without"
        )
        problems.append(Problem.about("missing-shard", message, index, missing))
    if missing and len(missing) == len(listed):
        message = f"no shard is here, only {index}: tensor names are known, dtypes and shapes are not"
        problems.append(Problem("no-headers", message, index))
    extra = [file for file in shards if file not in set(listed) and not file.startswith("consolidated")]
    if extra:
        message = f"{_count(extra, 'file')} not listed in {index}; engines do not read what the index does not list"
        problems.append(Problem.about("unlisted-shard", message, index, extra))
    return problems


class _Merge:
    """Follows the index from shard to shard, and keeps what does not agree with it."""

    def __init__(self, weight_map: Mapping[str, str], read: Mapping[str, Mapping[str, Tensor]]) -> None:
        self.weight_map = weight_map
        self.read = read
        self.tensors: dict[str, Tensor] = {}
        self.unknown: list[str] = []
        self.misplaced: list[str] = []
        self.double: list[str] = []
        self.by_missing_file: dict[str, list[str]] = {}
        for name, file in weight_map.items():
            if file not in read:
                self.by_missing_file.setdefault(file, []).append(name)
        self.lost: list[str] = []

    def add(self, file: str) -> None:
        """Take the tensors of one file, or of a missing file the names that the index gives it."""
        shard = self.read.get(file)
        if shard is None:
            self.tensors |= {name: Tensor(name, None, None, file) for name in self.by_missing_file[file]}
            return
        owners = list(map(self.weight_map.get, shard))
        if owners.count(file) == len(shard):
            self.tensors |= shard
            return
        for (name, tensor), owner in zip(shard.items(), owners, strict=True):
            if owner == file:
                self.tensors[name] = tensor
            else:
                self.add_stray(name, tensor)

    def add_stray(self, name: str, tensor: Tensor) -> None:
        """Take a tensor that the index does not list, or lists for another file."""
        owner = self.weight_map.get(name)
        if name in self.tensors or name in self.read.get(owner or "", ()):
            self.double.append(name)
        else:
            (self.unknown if owner is None else self.misplaced).append(name)
            self.tensors[name] = tensor

    def finish(self, path: Path) -> None:
        """Find the tensors that are in no shard; refuse names that only the index has and no tensor can have."""
        absent = self.weight_map.keys() - self.tensors.keys()
        self.lost = [name for name in self.weight_map if name in absent] if absent else []
        only_listed = [*self.lost, *(name for names in self.by_missing_file.values() for name in names)]
        odd = next((name for name in only_listed if not is_name(name)), None)
        if odd is not None:
            raise CheckpointError(
                f"{path}: the tensor name {odd[:60]!a}; expected 1 to {NAME_LIMIT} printable characters; "
                "download the index again"
            )

    def problems(self, index: str) -> list[Problem]:
        rows = (
            ("missing-tensor", self.lost, f"listed in {index} but in no shard; the layers that need them cannot load"),
            ("unknown-tensor", self.unknown, f"in the shards but not listed in {index}; write the index anew"),
            ("misplaced-tensor", self.misplaced, f"in another shard than {index} says; write the index anew"),
            ("double-tensor", self.double, "stored in more than one shard; remove all but one"),
        )
        return [
            Problem.about(kind, f"{_count(names, 'tensor')} {text}", index, names)
            for kind, names, text in rows
            if names
        ]


def _count(names: Sequence[str], noun: str) -> str:
    return f"1 {noun} is" if len(names) == 1 else f"{len(names)} {noun}s are"
