"""Every row of the table of draft names, compared with the real class: its own ``load_weights`` is followed."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from qpolicy.bind.names import stored_candidates
from qpolicy.bind.names_table import DraftRow, draft_row, draft_rows
from qpolicy.sglang.architectures_table import engine_names
from qpolicy.sglang.names_probe import Header, headers, reached
from qpolicy.sglang.rehearse_job import Layer, Rehearsed

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures as script

pytestmark = pytest.mark.engine

MODELS = {model.arch: model for model in script.models() if model.draft or model.standalone}
# A loader gives a draft its head and embeddings from the target; attention layers own no weights.
NOT_LOADED = frozenset({"lm_head", "embedding", "attention"})
WITH_SCALE = ".wo_a.weight"
"""What DeepSeek V4 takes only together with its scale, in fp8."""

Drafts = dict[str, tuple[Rehearsed, Rehearsed]]


@pytest.fixture(scope="module")
def drafts() -> Drafts:
    """Every draft, built once to learn its layers and once more to follow what its row says is stored."""
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")
    built = {model.arch: result for model, draft, result in script.build(MODELS.values()) if draft}
    probes = {arch: _headers(arch, result) for arch, result in built.items() if result.error is None}
    followed = {
        model.arch: result
        for model, draft, result in script.build((MODELS[arch] for arch in probes), tensors=probes)
        if draft
    }
    return {arch: (result, followed.get(arch, result)) for arch, result in built.items()}


def _headers(arch: str, result: Rehearsed) -> tuple[Header, ...]:
    row = draft_row("sglang", [arch])
    assert row is not None
    names = dict(engine_names(result.layers))
    result.packed |= {fused: list(parts) for fused, parts in row.packed.items()}
    made = headers(result, lambda layer: _stored(row, arch, names[layer.path]), ("linear", "moe"))
    return tuple(header for one in made for header in _scaled(one))


def _scaled(header: Header) -> tuple[Header, ...]:
    name, _, shape = header
    if not name.endswith(WITH_SCALE):
        return (header,)
    return (name, "f8_e4m3", shape), (
        f"{name.removesuffix('weight')}scale",
        "f32",
        tuple(size // 128 for size in shape),
    )


def _stored(row: DraftRow, arch: str, asked: str) -> Iterable[str]:
    model = MODELS[arch]
    return stored_candidates(row, asked, model.layers, model.draft_index or 0)


@pytest.mark.parametrize("arch", MODELS)
def test_the_row_names_the_class_that_sglang_builds(drafts: Drafts, arch: str) -> None:
    result, _ = drafts[arch]
    assert result.error is None
    row = draft_row("sglang", [arch])
    assert row is not None
    assert result.model == row.draft_class or result.model in row.architectures


@pytest.mark.parametrize("arch", MODELS)
def test_every_layer_is_loaded_from_the_name_that_the_row_gives(drafts: Drafts, arch: str) -> None:
    row = draft_row("sglang", [arch])
    assert row is not None
    built, followed = drafts[arch]
    arrived, names = reached(followed), dict(engine_names(built.layers))
    lost = [layer for layer in built.layers if not _arrived(layer, arrived, _stored(row, arch, names[layer.path]))]
    lost_names = [names[layer.path] for layer in lost if layer.kind not in NOT_LOADED]
    assert [name for name in lost_names if name not in row.unnumbered] == []


@pytest.mark.parametrize("arch", [row.architectures[0] for row in draft_rows() if row.unnumbered])
def test_layers_without_a_number_are_asked_once_for_every_block(drafts: Drafts, arch: str) -> None:
    row = draft_row("sglang", [arch])
    assert row is not None
    asked = [layer.name for layer in drafts[arch][0].layers if layer.asked and layer.kind != "attention"]
    assert {name: asked.count(name) for name in asked} == dict.fromkeys(row.unnumbered, 2)


def _arrived(layer: Layer, arrived: dict[str, set[str]], stored: Iterable[str]) -> bool:
    parents = {name.rpartition(".")[0] for name in stored} | set(stored)
    return any(
        name == parent or name.startswith(f"{parent}.") or not parent
        for name in arrived.get(layer.path, ())
        for parent in parents
    )


def test_every_row_is_tried() -> None:
    tried = {row.draft_class for arch in MODELS if (row := draft_row("sglang", [arch]))}
    assert {row.draft_class for row in draft_rows() if row.engine == "sglang"} - tried == set()
