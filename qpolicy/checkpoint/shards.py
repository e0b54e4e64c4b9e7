"""Finds a checkpoint's safetensors files, reads their headers, and compares them with the index.

Which files count: those that the index lists, as engines do (SGLang 0.5.23, srt/model_loader/weight_utils.py,
``filter_duplicate_safetensors_files``). Of several indexes ``model.safetensors.index.json`` counts, else the first by
name, Mistral's ``consolidated.safetensors.index.json`` last. Without an index every ``*.safetensors`` file counts, in
the order of names, except ``consolidated*.safetensors`` beside others: that is the same model a second time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
        read = read_header(folder / file).tensors
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
    listed = sorted(set(weight_map.values()))
    there = set(shards)
    present = [file for file in listed if file in there]
    read = {file: read_header(folder / file).tensors for file in present}
    problems += _shard_problems(folder, index, listed, present, shards)
    tensors = {name: tensor for file in present for name, tensor in read[file].items() if name not in weight_map}
    unknown = list(tensors)
    merged, lost, misplaced = _follow_index(weight_map, read)
    problems += _tensor_problems(index, read, unknown, lost, misplaced, weight_map)
    return Stored(_in_file_order(listed, merged | tensors), tuple(problems), len(present) == len(listed))


def _read_index(path: Path) -> tuple[dict[str, str], list[Problem]]:
    content, duplicates = read_object(path)
    weight_map = content.get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise CheckpointError(
            f'{path}: no sound weight_map; expected {{"weight_map": {{"TENSOR": "FILE.safetensors"}}}}; '
            "download the index again or write it anew"
        )
    for file in dict.fromkeys(weight_map.values()):
        _check_file_name(path, file)
    for name in weight_map:
        if not is_name(name):
            raise CheckpointError(
                f"{path}: the tensor name {name[:60]!a}; expected 1 to {NAME_LIMIT} printable characters"
            )
    return weight_map, [duplicate_keys(path.name, duplicates)] if duplicates else []


def _check_file_name(path: Path, file: Any) -> None:
    plain = file.isprintable() and not set(file) & set("/\\:") and len(file) <= 255
    if not plain or not file.endswith(".safetensors"):
        raise CheckpointError(
            f"{path}: weight_map names the file {file[:80]!a}; expected a *.safetensors file in the same folder, "
            "without a path"
        )


def _shard_problems(
    folder: Path, index: str, listed: Sequence[str], present: Sequence[str], shards: Sequence[str]
) -> list[Problem]:
    problems = []
    if missing := [file for file in listed if file not in set(present)]:
        dangling = any((folder / file).is_symlink() for file in missing)
        why = " (links to files that are not there)" if dangling else ""
        message = (
            f"{_count(missing, 'shard')} listed in {index} missing{why}; download them, the engine will stop without"
        )
        problems.append(Problem.about("missing-shard", message, index, missing))
        if not present:
            message = f"no shard is here, only {index}: tensor names are known, dtypes and shapes are not"
            problems.append(Problem("no-headers", message, index))
    extra = [file for file in shards if file not in set(listed) and not file.startswith("consolidated")]
    if extra:
        message = f"{_count(extra, 'file')} not listed in {index}; engines do not read what the index does not list"
        problems.append(Problem.about("unlisted-shard", message, index, extra))
    return problems


def _follow_index(
    weight_map: Mapping[str, str], read: Mapping[str, Mapping[str, Tensor]]
) -> tuple[dict[str, Tensor], list[str], list[str]]:
    """Find each listed tensor: those found (or in a missing shard), those in no shard, those in another shard."""
    merged: dict[str, Tensor] = {}
    absent = []
    for name, file in weight_map.items():
        shard = read.get(file)
        if shard is None:
            merged[name] = Tensor(name, None, None, file)
        elif name in shard:
            merged[name] = shard[name]
        else:
            absent.append(name)
    elsewhere = {name: shard[name] for name in absent for shard in read.values() if name in shard}
    return merged | elsewhere, [name for name in absent if name not in elsewhere], list(elsewhere)


def _tensor_problems(
    index: str,
    read: Mapping[str, Mapping[str, Tensor]],
    unknown: Sequence[str],
    lost: Sequence[str],
    misplaced: Sequence[str],
    weight_map: Mapping[str, str],
) -> list[Problem]:
    moved = set(misplaced)
    double = [
        name
        for file, shard in read.items()
        for name in shard
        if name in weight_map and weight_map[name] != file and name not in moved
    ]
    seen: set[str] = set()
    double += [name for shard in read.values() for name in shard if name not in weight_map and not _new(name, seen)]
    rows = (
        ("missing-tensor", lost, f"listed in {index} but in no shard; the layers that need them cannot load"),
        ("unknown-tensor", unknown, f"in the shards but not listed in {index}; write the index anew"),
        ("misplaced-tensor", misplaced, f"in another shard than {index} says; write the index anew"),
        ("double-tensor", double, "stored in more than one shard; remove all but one"),
    )
    return [
        Problem.about(kind, f"{_count(names, 'tensor')} {text}", index, names) for kind, names, text in rows if names
    ]


def _new(name: str, seen: set[str]) -> bool:
    known = name in seen
    seen.add(name)
    return not known


def _in_file_order(files: Sequence[str], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Sort by file; within a file the tensors keep their order, which is that of the index."""
    place = {file: position for position, file in enumerate(files)}
    return dict(sorted(tensors.items(), key=lambda item: place[item[1].file]))


def _count(names: Iterable[str], noun: str) -> str:
    number = sum(1 for _ in names)
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"
