"""Opens a checkpoint folder without reading its weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from qpolicy.checkpoint.config import Configs, read_configs
from qpolicy.checkpoint.draft import draft_patterns as _draft_patterns
from qpolicy.checkpoint.draft import is_draft_name
from qpolicy.checkpoint.modules import StoredModule, build_modules
from qpolicy.checkpoint.shards import Stored, read_stored
from qpolicy.checkpoint.tensor import Problem
from qpolicy.checkpoint.vocabulary import format_of
from qpolicy.errors import CheckpointError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_NUMBERED = re.compile(r"\.\d+(?:\.|\Z)")
_WORDS = re.compile(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings|embed)$")
_DRAFT_LAYER = re.compile(r"(?:model\.|language_model\.)?mtp(?:_layers|\.layers)?\.(\d+)\.")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder, as its headers and config files describe it.

    Attributes:
        path: The folder.
        configs: Its config files; the properties below say the same in short.
        modules: The stored modules by name, in file order.
        format: The format of its quantized tensors, a key of the vocabulary; ``unknown`` where no config names one.
        headers: Whether every tensor's dtype and shape is known.
        problems: What is wrong with its files that still leaves this table.
        policy_files: The ``*.qpolicy`` files beside it, by name.
    """

    path: Path
    configs: Configs
    modules: Mapping[str, StoredModule]
    format: str
    headers: bool
    problems: tuple[Problem, ...]
    policy_files: tuple[Path, ...]

    @property
    def config(self) -> Mapping[str, Any]:
        """The content of ``config.json``; empty without one."""
        return self.configs.config

    @property
    def text_config(self) -> Mapping[str, Any]:
        """The nested config of the language model, or ``config`` itself."""
        return self.configs.text_config

    @property
    def quantization(self) -> Mapping[str, Any] | None:
        """The quantization config that counts, or None; ``config.PLACES`` lists where it may stand, in order."""
        return self.configs.quantization

    @property
    def quantization_file(self) -> str | None:
        """The file and key that :attr:`quantization` came from, such as ``"config.json: quantization_config"``."""
        return self.configs.quantization_file

    @property
    def architectures(self) -> tuple[str, ...]:
        """The names of the model classes."""
        return self.configs.architectures

    @property
    def num_hidden_layers(self) -> int | None:
        """The number of layers of the target model, if the config says it."""
        return self.configs.num_hidden_layers

    @cached_property
    def draft_layers(self) -> int:
        """The number of next-token-prediction layers: by the config, or else as many as are stored as ``mtp``."""
        stored = (_DRAFT_LAYER.match(name) for name in self.modules)
        return self.configs.draft_layers or len({found[1] for found in stored if found})

    @cached_property
    def tied(self) -> bool:
        """Whether ``lm_head`` has the embedding's weights: by the config, or else because none is stored."""
        said = self.configs.tie_word_embeddings
        if said is not None:
            return said
        kinds = {module.kind for module in self._outside_layers()}
        return "embedding" in kinds and "lm_head" not in kinds

    def find(self, name: str) -> StoredModule | None:
        """Return the stored module of this name, or None; a tied head that is not stored has the embedding's tensors.

        Args:
            name: A stored module's name.
        """
        module = self.modules.get(name)
        if module is not None or name.rpartition(".")[2] != "lm_head" or not self.tied:
            return module
        tables = (module for module in self._outside_layers() if module.kind == "embedding")
        table = next(iter(sorted(tables, key=lambda table: _WORDS.search(table.name) is None)), None)
        return StoredModule(name, table.tensors, self.format) if table else None

    def _outside_layers(self) -> Iterator[StoredModule]:
        return (module for name, module in self.modules.items() if not _NUMBERED.search(name))

    @cached_property
    def draft_modules(self) -> tuple[StoredModule, ...]:
        """The stored modules of the draft, in file order."""
        return tuple(module for name, module in self.modules.items() if self.is_draft_name(name))

    def is_draft_name(self, name: str) -> bool:
        """Whether a name is in the scope ``@mtp``, the draft's part of this checkpoint."""
        return is_draft_name(name, self.configs.num_hidden_layers, self.configs.draft_layers)


def draft_patterns(checkpoint: Checkpoint | None) -> tuple[str, ...]:
    """Return the patterns of ``@mtp`` for a checkpoint, as texts of the policy language; each ends in ``.**``."""
    if checkpoint is None:
        return _draft_patterns(None, 0)
    return _draft_patterns(checkpoint.configs.num_hidden_layers, checkpoint.configs.draft_layers)


def open_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Open a checkpoint folder: its config files and the headers of its safetensors files, never weights.

    An index without its shards, and a folder with nothing but a config, open too.

    Args:
        path: The folder.

    Returns:
        The checkpoint.

    Raises:
        CheckpointError: There is no such folder, or a file in it is broken or hostile.
        NothingToCheckError: The folder holds weights only in other formats, or no checkpoint at all.
    """
    folder = _folder(path)
    try:
        configs = read_configs(folder)
        stored = read_stored(folder, configs.found)
        policies = tuple(sorted(folder.glob("*.qpolicy")))
    except OSError as error:
        raise CheckpointError(f"{folder}: cannot be read: {error.strerror or error}; check its rights") from None
    key = format_of(configs.quantization)
    sound, odd = _sort_out_odd_names(stored)
    modules = build_modules(sound, key)
    return Checkpoint(folder, configs, modules, key, stored.headers, configs.problems + stored.problems + odd, policies)


def _folder(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if "\0" in text:
        raise CheckpointError(f"{text!a}: expected the path of a checkpoint folder, without a zero byte")
    folder = Path(text)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise CheckpointError(f"{folder}: a file; expected the checkpoint's folder, such as {folder.parent}")
    if _HUB_ID.fullmatch(text):
        raise CheckpointError(
            f"{text}: no such folder; if this is a hub id, download it first and give the local folder"
        )
    raise CheckpointError(f"{folder}: no such folder; expected the folder of a checkpoint")


def _sort_out_odd_names(stored: Stored) -> tuple[list[Any], tuple[Problem, ...]]:
    """Leave out tensors whose name has an empty part (``a..b``): no module can be called so."""
    odd = [name for name in stored.tensors if ".." in name or name[0] == "." or name[-1] == "."]
    if not odd:
        return list(stored.tensors.values()), ()
    left_out = set(odd)
    message = f"{len(odd)} tensor names have an empty part between dots; these tensors are left out of the table"
    sound = [tensor for name, tensor in stored.tensors.items() if name not in left_out]
    return sound, (Problem.about("odd-name", message, stored.tensors[odd[0]].file, odd),)
