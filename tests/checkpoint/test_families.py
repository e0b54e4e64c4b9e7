import pytest

from qpolicy.checkpoint import FUSED, container_of, fused_names


@pytest.mark.parametrize(
    ("name", "fused"),
    [
        ("model.layers.0.mlp.up_proj", ("model.layers.0.mlp.gate_up_proj",)),
        ("up_proj", ("gate_up_proj",)),
        ("a.in_proj_z", ("a.in_proj_qkvz",)),
        ("a.in_proj_a", ("a.in_proj_ba",)),
        ("a.experts.3.gate_proj", ("a.experts.3.gate_up_proj",)),
        ("a.down_proj", ()),
        ("a.qkv_proj", ()),
        ("a.q_proj.b", ()),
    ],
)
def test_fused_names_of_the_usual_families(name, fused):
    assert fused_names(name) == fused


def test_a_part_may_belong_to_several_families():
    assert fused_names("a.q_a_proj") == ("a.fused_qkv_a_proj_with_mqa", "a.fused_qkv_a_g_proj_with_mqa")
    assert fused_names("a.q_proj")[0] == "a.qkv_proj"


def test_a_model_class_may_bring_its_own_families():
    packed = {"W_pack": ["W_pack"], "qkv": ["query", "key"]}
    assert fused_names("a.query", packed) == ("a.qkv",)
    assert fused_names("a.W_pack", packed) == ()
    assert fused_names("a.q_proj", packed) == ()


def test_families_have_parts_and_none_has_itself():
    assert all(len(parts) > 1 and fused not in parts for fused, parts in FUSED.items())


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("X.experts.3.up_proj", "X.experts"),
        ("X.experts.3.mlp.up_proj", "X.experts"),
        ("X.experts.gate_up_proj", "X.experts"),
        ("X.experts.w13", "X.experts"),
        ("experts.0.w1", "experts"),
        ("X.experts", None),
        ("X.experts.router", None),
        ("X.shared_experts.up_proj", None),
        ("X.experts_something.0.up_proj", None),
        ("X.mlp.up_proj", None),
        ("X.experts.0.experts.1.w1", "X.experts.0.experts"),
    ],
)
def test_container_of_experts(name, container):
    assert container_of(name) == container
