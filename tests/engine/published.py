"""Published configs for rehearsal: those with a quantization config whose architecture SGLang has."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qpolicy.bind.names_table import draft_row

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "configs"
_QUANTIZATION = ("quantization_config", "compression_config")
_DRAFT_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "mtp_num_layers")


@dataclass(frozen=True, slots=True)
class Published:
    """One published config.

    Attributes:
        file: The name of its file.
        arch: Its architecture.
        method: Its quantization method.
        config: The config.
    """

    file: str
    arch: str
    method: str
    config: dict[str, Any]

    @property
    def completed(self) -> dict[str, Any]:
        """The config; where it is an excerpt, with the missing keys of a small synthetic one of its architecture."""
        model = next((model for model in make_architectures.models() if model.arch == self.arch), None)
        return self.config if model is None else _filled(self.config, model.config)

    @property
    def sidecar(self) -> Path | None:
        """The hf_quant_config.json that was published beside it."""
        path = CORPUS / self.file.replace("_config.json", "_hf_quant_config.json")
        return path if path.name != self.file and path.exists() else None

    @property
    def draft_layers(self) -> int:
        """How many next-token-prediction layers the config says there are."""
        config = self.completed
        text = config.get("text_config") or {}
        return max(int(part.get(key) or 0) for part in (config, text) for key in _DRAFT_LAYERS)

    @property
    def has_draft(self) -> bool:
        """Whether SGLang has a draft class for it, and the completed config says that there is a draft."""
        row = draft_row("sglang", [self.arch])
        return row is not None and not row.standalone and self.draft_layers > 0


def _filled(config: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Fill the keys that a config lacks; one without a part of its own for text gets none."""
    missing = {key: value for key, value in other.items() if key not in config and key != "text_config"}
    inner = {key: _filled(value, other[key]) for key, value in config.items() if isinstance(other.get(key), dict)}
    return {**config, **missing, **inner} if config else config


def published() -> tuple[Published, ...]:
    """Return the published configs of the architectures that are in SGLang's registry.

    The registry is read from the names that its model files give their classes, without importing them.
    """
    registered = _registered()
    found = []
    for path in sorted(CORPUS.glob("*.json")):
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        if isinstance(config, dict) and (one := _read(path.name, config)) and one.arch in registered:
            found.append(one)
    return tuple(found)


def _registered() -> frozenset[str]:
    spec = importlib.util.find_spec("sglang")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    files = Path(spec.submodule_search_locations[0], "srt", "models").rglob("*.py")
    texts = (file.read_text(encoding="utf-8") for file in files)
    return frozenset(
        name
        for text in texts
        for entry in re.findall(r"^EntryClass = (\[.*?\]|\w+)", text, re.MULTILINE | re.DOTALL)
        for name in re.findall(r"\w+", entry)
    )


def _read(file: str, config: dict[str, Any]) -> Published | None:
    text = config.get("text_config")
    places = (config, text if isinstance(text, dict) else {})
    quantization = next((part[key] for part in places for key in _QUANTIZATION if part.get(key)), None)
    archs = config.get("architectures")
    if not isinstance(quantization, dict) or not isinstance(archs, list) or not archs:
        return None
    return Published(file, str(archs[0]), str(quantization.get("quant_method")), config)
