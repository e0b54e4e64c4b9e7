"""Reads a checkpoint's config files: what the model is, and how its quantization is described.

The description stands in one of several places; :data:`PLACES` lists them, the first that is there counts. SGLang
0.5.23 (srt/configs/model_config.py, ``_parse_quant_hf_config``) asks ``quantization_config``, then
``compression_config``, then ``hf_quant_config.json``, so a ``config.json`` wins over a sidecar file; a key that only
the nested text config has is lifted to the top (srt/utils/hf_transformers/config.py, ``get_config``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from qpolicy.checkpoint.jsonfile import read_object
from qpolicy.checkpoint.tensor import Problem

CONFIG_FILE = "config.json"
MISTRAL_FILE = "params.json"
MODELSLIM_FILE = "quant_model_description.json"
_SIDECARS = ("hf_quant_config.json", "quantize_config.json", "quant_config.json", MODELSLIM_FILE, MISTRAL_FILE)


class Place(NamedTuple):
    """Where a quantization config may stand.

    Attributes:
        file: The file's name.
        key: The key that holds it; empty for the whole file.
        nested: Whether the key stands in the nested text config.
    """

    file: str
    key: str
    nested: bool = False

    def __str__(self) -> str:
        key = f"text config's {self.key}" if self.nested else self.key
        return f"{self.file}: {key}" if key else self.file


PLACES = (
    Place(CONFIG_FILE, "quantization_config"),
    Place(CONFIG_FILE, "quantization_config", nested=True),
    Place(CONFIG_FILE, "compression_config"),
    Place(CONFIG_FILE, "compression_config", nested=True),
    Place("hf_quant_config.json", "quantization"),  # ModelOpt
    Place("hf_quant_config.json", ""),  # ModelOpt's flat form, for diffusers
    Place("quantize_config.json", ""),  # AutoGPTQ, GPTQModel
    Place("quant_config.json", ""),  # AutoAWQ before 0.1.8
    Place(MODELSLIM_FILE, ""),  # ModelSlim
    Place(CONFIG_FILE, "quantization"),  # MLX
    Place(MISTRAL_FILE, "quantization"),  # Mistral's own format
    Place(CONFIG_FILE, ""),  # a file that holds nothing but the description
)
"""Every place, the one that counts first."""

_WHOLE_FILE_MARKS = ("quant_method", "quant_algo", "quantized_layers", "bits", "w_bit", "model_quant_type")

_TEXT_CONFIGS = ("thinker_config", "llm_config", "language_config", "text_config")
"""Names of the nested config of the language model, as SGLang 0.5.23 ranks them.

srt/utils/hf_transformers/common.py, ``get_hf_text_config``; a ``thinker_config`` nests once more.
"""

_LAYER_COUNTS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")

_DRAFT_COUNTS = (
    "num_nextn_predict_layers",  # DeepSeek, GLM, MiMo, Step: SGLang 0.5.23, srt/configs/model_config.py
    "mtp_num_hidden_layers",  # Qwen3.5 and Qwen3.8, as published
    "num_mtp_modules",  # MiniMax: SGLang 0.5.23, srt/models/minimax_m2.py
    "num_mtp_layers",  # IQuest: SGLang 0.5.23, srt/configs/iquest_q1.py
)


@dataclass(frozen=True, slots=True)
class Configs:
    """A checkpoint's config files, read.

    Attributes:
        config: ``config.json`` (or Mistral's ``params.json`` where there is no other), empty without one.
        text_config: The nested config of the language model, or ``config`` itself.
        quantization: The quantization config that counts, or None.
        quantization_file: The file and key that it came from, or None.
        quantization_places: Every quantization config that was found, by file and key.
        num_hidden_layers: The number of layers of the language model, if the config says it.
        draft_layers: The number of next-token-prediction layers that the config says the model has.
        problems: Keys that come twice, values of a wrong type.
        found: Whether any config file is there.
    """

    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    text_config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    quantization: Mapping[str, Any] | None = None
    quantization_file: str | None = None
    quantization_places: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    num_hidden_layers: int | None = None
    draft_layers: int = 0
    problems: tuple[Problem, ...] = ()
    found: bool = False

    @property
    def tie_word_embeddings(self) -> bool | None:
        """Whether the head has the embedding's weights; None where no config says it."""
        for config in (self.text_config, self.config):
            if isinstance(tied := config.get("tie_word_embeddings"), bool):
                return tied
        return None

    @property
    def architectures(self) -> tuple[str, ...]:
        """The names of the model classes."""
        names = self.config.get("architectures")
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def read_configs(folder: Path) -> Configs:
    """Read every config file of a checkpoint folder.

    Args:
        folder: The checkpoint's folder.

    Returns:
        What they say; empty where there are none.

    Raises:
        CheckpointError: A file is not sound JSON, or not an object; the message names line and column.
    """
    files: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name in (CONFIG_FILE, *_SIDECARS):
        if (folder / name).exists():
            files[name], duplicates = read_object(folder / name)
            if duplicates:
                problems.append(duplicate_keys(name, duplicates))
    config = files.get(CONFIG_FILE) or files.get(MISTRAL_FILE, {})
    text_config = find_text_config(config)
    places = dict(_quantizations(files, text_config, problems))
    file, quantization = next(iter(places.items()), (None, None))
    return Configs(
        config=config,
        text_config=text_config,
        quantization=quantization,
        quantization_file=file,
        quantization_places=places,
        num_hidden_layers=next(_counts((text_config, config), _LAYER_COUNTS), None),
        draft_layers=next((count for count in _counts((text_config, config), _DRAFT_COUNTS) if count), 0),
        problems=tuple(problems),
        found=bool(files),
    )


def quantization_in(file: Path) -> tuple[str | None, Mapping[str, Any] | None]:
    """Return the quantization config in one file, whatever the file is called, with the place that it was found in.

    Args:
        file: A ``config.json``, a sidecar file, or a file that holds the description alone.

    Returns:
        The place and the config; None for both where there is none.

    Raises:
        CheckpointError: The file is not sound JSON, or not an object.
    """
    whole, _ = read_object(file)
    names = dict.fromkeys(place.file for place in PLACES)
    for name in [file.name] if file.name in names else names:
        for place, found in _quantizations({name: whole}, find_text_config(whole), []):
            return place.replace(name, file.name, 1), found
    return None, None


def duplicate_keys(file: str, keys: tuple[str, ...]) -> Problem:
    """The problem of keys that come more than once in one object of a file."""
    message = f"{file} holds the same key more than once in one object; the last value counts"
    return Problem.about("duplicate-key", message, file, keys)


def find_text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the nested config of the language model, or the config itself where none is nested."""
    for name in _TEXT_CONFIGS:
        nested = config.get(name)
        if isinstance(nested, dict) and nested:
            deeper = nested.get("text_config")
            return deeper if isinstance(deeper, dict) and deeper else nested
    return config


def _quantizations(
    files: Mapping[str, Mapping[str, Any]], text_config: Mapping[str, Any], problems: list[Problem]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for place in PLACES:
        if place.file not in files:
            continue
        whole = files[place.file]
        if place.nested and text_config is whole:
            continue
        value = (text_config if place.nested else whole).get(place.key) if place.key else whole
        if not place.key and not any(mark in whole for mark in _WHOLE_FILE_MARKS):
            continue
        if isinstance(value, dict) and value:
            yield str(place), value
        elif value:
            message = f"{place} is a JSON {type(value).__name__}, expected an object; it is ignored"
            problems.append(Problem("ignored-value", message, place.file))


def _counts(configs: Iterable[Mapping[str, Any]], keys: tuple[str, ...]) -> Iterator[int]:
    for config in configs:
        for key in keys:
            count = config.get(key)
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 1_000_000:
                yield count
