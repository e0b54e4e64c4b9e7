"""The draft scope ``@mtp``: the next-token-prediction head, in each spelling that checkpoints use."""

from __future__ import annotations

import re

_SPELLINGS = (
    "mtp.**",  # Qwen3-Next, Qwen3.5, DeepSeek V4, Nemotron-H
    "model.mtp.**",  # MiniMax M3, MiMo V2
    "language_model.mtp.**",  # SGLang 0.5.23, srt/models/nemotron_h_mtp.py
    "mtp_layers.**",  # IQuest
    "model.mtp_layers.**",  # MiMo, Hunyuan V4: SGLang 0.5.23, srt/models/mimo_mtp.py and hunyuan_v4_nextn.py
    "model.mtp_{block,emb_norm,hidden_norm,linear_proj}.**",  # Ernie 4.5: SGLang 0.5.23, srt/models/ernie4_eagle.py
)
_NUMBERED = (
    "model.layers",  # DeepSeek V3, GLM 4.5
    "model.language_model.layers",  # GLM 5 Next: SGLang 0.5.23, srt/models/glm5_next_nextn.py
    "language_model.model.layers",  # Kimi K2.5 wraps DeepSeek V3
)


def _stem(pattern: str) -> str:
    """A pattern's text without its end, as a regular expression."""
    words = re.sub(r"\{(.+?)\}", lambda found: f"(?:{found[1].replace(',', '|')})", pattern.removesuffix(".**"))
    return words.replace(".", r"\.")


_WORD = re.compile(f"(?:{'|'.join(map(_stem, _SPELLINGS))})(?:\\.|\\Z)")
_LAYER = re.compile(f"(?:{'|'.join(map(_stem, _NUMBERED))})\\.(0|[1-9]\\d*)(?:\\.|\\Z)")


def draft_patterns(num_hidden_layers: int | None, config_draft_layers: int) -> tuple[str, ...]:
    """Return the patterns of ``@mtp`` for a model, as texts of the policy language; each ends in ``.**``.

    Args:
        num_hidden_layers: The number of layers of the target, or None where the config does not say.
        config_draft_layers: The number of next-token-prediction layers that the config says there are. Only with some
            are the layers that follow the target's own a draft.
    """
    if num_hidden_layers is None or config_draft_layers < 1:
        return _SPELLINGS
    return _SPELLINGS + tuple(f"{stem}.{{{num_hidden_layers}..}}.**" for stem in _NUMBERED)


def is_draft_name(name: str, num_hidden_layers: int | None, config_draft_layers: int) -> bool:
    """Whether a module's name is in the scope that :func:`draft_patterns` describes."""
    if _WORD.match(name):
        return True
    if num_hidden_layers is None or config_draft_layers < 1:
        return False
    layer = _LAYER.match(name)
    return layer is not None and _at_least(layer[1], str(num_hidden_layers))


def _at_least(number: str, bound: str) -> bool:
    return (len(number), number) >= (len(bound), bound)
