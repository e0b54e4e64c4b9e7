import pytest
from checkpoints import write_checkpoint, write_index
from hypothesis import given
from hypothesis import strategies as st

from qpolicy.checkpoint import open_checkpoint
from qpolicy.checkpoint.naming import split_name

BF16_2D = ("BF16", (8, 8))
P = "model.layers.3"


@pytest.mark.parametrize(
    ("tensor", "module", "own"),
    [
        (f"{P}.mlp.up_proj.weight", f"{P}.mlp.up_proj", "weight"),
        (f"{P}.mlp.up_proj.weight_scale_inv", f"{P}.mlp.up_proj", "weight_scale_inv"),
        (f"{P}.mlp.gate.e_score_correction_bias", f"{P}.mlp.gate", "e_score_correction_bias"),
        (f"{P}.linear_attn.A_log", f"{P}.linear_attn", "A_log"),
        (f"{P}.self_attn.k_proj.output_scale", f"{P}.self_attn.k_proj", "output_scale"),
        ("model.image_newline", "model", "image_newline"),
        ("image_newline", "image_newline", "weight"),
        ("lm_head.weight", "lm_head", "weight"),
        # stacked experts
        (f"{P}.mlp.experts.gate_up_proj", f"{P}.mlp.experts.gate_up_proj", "weight"),
        (f"{P}.mlp.experts.gate_up_proj_blocks", f"{P}.mlp.experts.gate_up_proj", "blocks"),
        (f"{P}.mlp.experts.gate_up_proj_scales", f"{P}.mlp.experts.gate_up_proj", "scales"),
        (f"{P}.mlp.experts.down_proj_bias", f"{P}.mlp.experts.down_proj", "bias"),
        (f"{P}.mlp.experts.down_proj_packed", f"{P}.mlp.experts.down_proj", "packed"),
        (f"{P}.mlp.experts.down_proj_scale_inv", f"{P}.mlp.experts.down_proj", "scale_inv"),
        (f"{P}.mlp.experts.down_proj_weight_scale_2", f"{P}.mlp.experts.down_proj", "weight_scale_2"),
        (f"{P}.mlp.experts.down_proj_input_scale", f"{P}.mlp.experts.down_proj", "input_scale"),
        (f"{P}.mlp.experts.gate_up_proj.weight_packed", f"{P}.mlp.experts.gate_up_proj", "weight_packed"),
        (f"{P}.mlp.experts.w13_weight", f"{P}.mlp.experts.w13", "weight"),
        (f"{P}.ffn.experts.mlp.w1", f"{P}.ffn.experts.mlp.w1", "weight"),
        (f"{P}.mlp.experts.7.up_proj.weight", f"{P}.mlp.experts.7.up_proj", "weight"),
        # no experts, no stack
        (f"{P}.mlp.shared_experts.up_proj.weight", f"{P}.mlp.shared_experts.up_proj", "weight"),
        (f"{P}.mlp.experts_gate.up_proj", f"{P}.mlp.experts_gate", "up_proj"),
        ("visual.proj", "visual", "proj"),
        # parts of a parameter
        ("a.q_proj.weight.absmax", "a.q_proj", "weight.absmax"),
        ("a.q_proj.weight.quant_state.bitsandbytes__nf4", "a.q_proj", "weight.quant_state.bitsandbytes__nf4"),
        ("a.q_proj.weight_quantizer.scale", "a.q_proj", "weight_quantizer.scale"),
        ("a.experts.down_proj.absmax", "a.experts.down_proj", "absmax"),
        ("a.experts.down_proj.quant_state.bitsandbytes__nf4", "a.experts.down_proj", "quant_state.bitsandbytes__nf4"),
        ("a.q_proj._weight_qdata", "a.q_proj", "_weight_qdata"),
        ("weight.absmax", "weight", "absmax"),
    ],
)
def test_a_tensor_belongs_to_a_module(tensor, module, own):
    assert split_name(tensor) == (module, own)


@given(
    st.lists(
        st.sampled_from(["a", "experts", "0", "weight", "up_proj", "up_proj_scale", "quant_state", "x_quantizer"]),
        min_size=1,
    )
)
def test_a_split_loses_nothing(parts):
    name = ".".join(parts)
    module, own = split_name(name)
    assert module
    assert own
    assert name in {f"{module}.{own}", f"{module}_{own}", module}


KINDS = [
    ("model.layers.0.self_attn.q_proj", {"weight": BF16_2D}, "linear"),
    ("model.layers.0.mlp.gate", {"weight": BF16_2D, "e_score_correction_bias": ("F32", (8,))}, "linear"),
    ("model.layers.0.mlp.shared_expert_gate", {"weight": ("BF16", (1, 8))}, "linear"),
    ("model.layers.0.mlp.shared_experts.up_proj", {"weight": BF16_2D}, "linear"),
    ("mtp.fc", {"weight": BF16_2D}, "linear"),
    ("visual.merger.mlp.0", {"weight": BF16_2D}, "linear"),
    ("a.q_proj", {"weight_packed": ("I32", (8, 1)), "weight_scale": ("BF16", (8, 1))}, "linear"),
    ("a.q_proj", {"qweight": ("I32", (1, 8)), "scales": ("F16", (1, 8))}, "linear"),
    ("a.q_proj", {"weight": ("U8", (32, 1)), "weight.absmax": ("U8", (1,))}, "linear"),
    ("a.q_proj", {"weight": ("U8", (32,)), "weight.absmax": ("U8", (1,))}, "linear"),
    ("a.q_proj", {"trellis": ("I16", (2, 2, 16)), "suh": ("F16", (8,))}, "linear"),
    ("a.q_proj", {"compressed": ("BF16", (20,)), "bitmask": ("U8", (8, 1))}, "linear"),
    ("visual.patch_embedding", {"weight": BF16_2D}, "linear"),
    ("model.layers.0.mlp.experts.3.up_proj", {"weight": BF16_2D}, "moe"),
    ("model.layers.0.mlp.experts.3.w1", {"weight_packed": ("I32", (8, 1))}, "moe"),
    ("model.layers.0.mlp.experts.router", {"weight": BF16_2D}, "linear"),
    ("model.layers.0.mlp.experts.3.norm", {"weight": ("BF16", (8,))}, None),
    ("model.layers.0.moe.gate_proj", {"weight": ("BF16", (4, 8, 8))}, "moe"),
    ("model.layers.0.block_sparse_moe.input_linear", {"weight": ("BF16", (4, 8, 8))}, "moe"),
    ("model.layers.0.linear_attn.conv1d", {"weight": ("BF16", (8, 1, 4))}, None),
    ("model.layers.0.linear_attn", {"A_log": ("BF16", (4,)), "dt_bias": ("BF16", (4,))}, None),
    ("model.layers.0.input_layernorm", {"weight": ("BF16", (8,))}, None),
    ("visual.patch_embed.proj", {"weight": ("BF16", (8, 3, 2, 14, 14))}, None),
    ("vision.patch_embedding", {"weight": ("BF16", (8, 3, 14, 14))}, None),
    ("model.layers.0.self_attn", {"k_scale": ("F32", ()), "v_scale": ("F32", ())}, None),
    ("model.rotary_emb", {"inv_freq": ("F32", (8,))}, None),
    ("lm_head", {"weight": BF16_2D}, "lm_head"),
    ("language_model.lm_head", {"weight_packed": ("I32", (8, 1))}, "lm_head"),
    ("model.layers.61.shared_head.head", {"weight": BF16_2D}, "lm_head"),
    ("output", {"weight": BF16_2D}, "lm_head"),
    ("attention.output", {"weight": BF16_2D}, "linear"),
    ("model.embed_tokens", {"weight": BF16_2D}, "embedding"),
    ("transformer.wte", {"weight": BF16_2D}, "embedding"),
    ("model.speech_embeddings.0", {"weight": BF16_2D}, "embedding"),
    ("visual.pos_embed", {"weight": BF16_2D}, "embedding"),
    ("model.embedding_projection", {"weight": BF16_2D}, "linear"),
]  # fmt: skip


def open_with(folder, module, tensors, config=None):
    named = {f"{module}.{own}": form for own, form in tensors.items()}
    return open_checkpoint(write_checkpoint(folder, named, config or {}))


@pytest.mark.parametrize(("module", "tensors", "kind"), KINDS)
def test_kinds_from_names_and_shapes(tmp_path, module, tensors, kind):
    assert open_with(tmp_path, module, tensors).modules[module].kind == kind


@pytest.mark.parametrize(("module", "tensors", "kind"), KINDS)
def test_names_alone_give_the_same_kind_unless_only_the_shape_can_tell(tmp_path, module, tensors, kind):
    write_index(tmp_path, {f"{module}.{own}": "absent.safetensors" for own in tensors})
    needs_shape = module in ("visual.patch_embedding", "model.layers.0.moe.gate_proj") or "input_linear" in module
    expected = {"visual.patch_embedding": None}.get(module, "linear") if needs_shape else kind
    assert open_checkpoint(tmp_path).modules[module].kind == expected


@pytest.mark.parametrize("shape", [(4, 8, 8), (4, 8, 2, 16)])
def test_stacked_experts_are_one_module(tmp_path, shape):
    own = "weight" if len(shape) == 3 else "blocks"
    stem = "model.layers.0.mlp.experts.gate_up_proj"
    tensors = {stem if own == "weight" else f"{stem}_blocks": ("U8", shape), f"{stem}_scales": ("U8", (4, 8, 2))}
    checkpoint = open_checkpoint(
        write_checkpoint(tmp_path, tensors, {"quantization_config": {"quant_method": "mxfp4"}})
    )
    (module,) = checkpoint.modules.values()
    assert (module.name, module.kind, module.quantized) == (stem, "moe", True)
    assert list(module.tensors) == [own, "scales"]


def test_a_name_collision_keeps_both_tensors(tmp_path):
    tensors = {"a.experts.up_proj": ("BF16", (2, 8, 8)), "a.experts.up_proj.weight": ("BF16", (2, 8, 8))}
    (module,) = open_checkpoint(write_checkpoint(tmp_path, tensors)).modules.values()
    assert list(module.tensors) == ["weight", "a.experts.up_proj.weight"]


def test_modules_know_their_evidence(tmp_path):
    config = {"quantization_config": {"quant_method": "compressed-tensors"}}
    packed = open_with(
        tmp_path, "a.q_proj", {"weight_packed": ("I32", (8, 1)), "weight_scale": ("BF16", (8, 1))}, config
    )
    module = packed.modules["a.q_proj"]
    assert (module.quantized, module.evidence) == (True, "weight_packed i32, weight_scale bf16")
    assert packed.format == "compressed-tensors"


def test_tensors_with_an_empty_part_in_their_name_are_left_out(tmp_path):
    names = ["a..b.weight", ".a", "b.", "sound.weight"]
    checkpoint = open_checkpoint(write_checkpoint(tmp_path, dict.fromkeys(names, ("U8", (1,)))))
    assert list(checkpoint.modules) == ["sound"]
    (problem,) = checkpoint.problems
    assert (problem.kind, problem.tensors) == ("odd-name", ("a..b.weight", ".a", "b."))
