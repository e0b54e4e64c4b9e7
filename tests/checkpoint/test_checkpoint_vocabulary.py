import pytest

from qpolicy.checkpoint.dtypes import DTYPES, PACKED_DTYPES
from qpolicy.checkpoint.vocabulary import UNKNOWN, format_of, judge, vocabularies

BF16 = ("weight", "bf16", 2)

QUANTIZED = [
    ("compressed-tensors", [("weight_packed", "i32", 2), ("weight_scale", "bf16", 2), ("weight_shape", "i64", 1)]),
    (
        "compressed-tensors",
        [("weight_packed", "u8", 2), ("weight_scale", "f8_e4m3", 2), ("weight_global_scale", "f32", 1)],
    ),
    ("compressed-tensors", [("weight", "i8", 2), ("weight_scale", "f32", 2)]),
    ("compressed-tensors", [("weight", "f8_e4m3", 2), ("weight_scale", "u8", 2)]),
    ("compressed-tensors", [("weight_packed", "i32", 2), ("scale_packed", "f16", 2), ("meta", "i16", 2)]),
    ("compressed-tensors", [("compressed", "f8_e4m3", 1), ("bitmask", "u8", 2), ("weight_scale", "f32", 2)]),
    ("quark", [("weight", "u8", 2), ("weight_scale", "u8", 2)]),
    ("quark", [("weight", "f8_e4m3", 2), ("weight_quantizer.scale", "f32", 0)]),
    ("modelopt", [("weight", "u8", 2), ("weight_scale", "f8_e4m3", 2), ("weight_scale_2", "f32", 0)]),
    ("modelopt", [("weight", "f8_e4m3", 2), ("weight_scale", "f32", 0), ("input_scale", "f32", 0)]),
    ("fp8", [("weight", "f8_e4m3", 2), ("weight_scale_inv", "f32", 2)]),
    ("fp8", [("weight", "f8_e4m3", 2), ("weight_scale", "f32", 0)]),
    ("fp8", [("weight", "f8_e4m3", 2), ("scale", "f8_e8m0", 2)]),
    ("fp8", [("weight", "i8", 2), ("scale", "f8_e8m0", 2)]),
    ("fp8", [("weight", "f8_e4m3", 3), ("scale_inv", "f32", 3)]),
    ("gptq", [("qweight", "i32", 2), ("qzeros", "i32", 2), ("scales", "f16", 2), ("g_idx", "i32", 1)]),
    ("awq", [("qweight", "i32", 2), ("qzeros", "i32", 2), ("scales", "f16", 2)]),
    ("auto-round", [("qweight", "i32", 2), ("qzeros", "i32", 2), ("scales", "f16", 2)]),
    ("bitsandbytes", [("weight", "u8", 2), ("weight.absmax", "u8", 1), ("weight.quant_map", "f32", 1)]),
    ("bitsandbytes", [("weight", "i8", 2), ("SCB", "f32", 1), ("weight_format", "u8", 0)]),
    ("mxfp4", [("blocks", "u8", 4), ("scales", "u8", 3), ("bias", "bf16", 2)]),
    ("torchao", [("_weight_qdata", "i8", 2), ("_weight_scale", "bf16", 1)]),
    ("mlx", [("weight", "u32", 2), ("scales", "bf16", 2), ("biases", "bf16", 2)]),
    ("modelslim", [("weight", "i8", 2), ("weight_scale", "bf16", 2), ("weight_offset", "bf16", 2)]),
    ("exl3", [("trellis", "i16", 3), ("suh", "f16", 1), ("svh", "f16", 1)]),
]


@pytest.mark.parametrize(("key", "tensors"), QUANTIZED)
@pytest.mark.parametrize("known", [True, False])
def test_each_format_knows_its_quantized_modules(key, tensors, known):
    assert judge(key if known else UNKNOWN, tuple(tensors)).quantized is True


@pytest.mark.parametrize("key", sorted(vocabularies()))
def test_plain_weight_is_unquantized_in_every_format(key):
    verdict = judge(key, (BF16, ("bias", "bf16", 1)))
    assert verdict == (False, "weight bf16")


@pytest.mark.parametrize("key", sorted(vocabularies()))
def test_activation_and_cache_scales_alone_tell_nothing(key):
    beside = tuple((name, "f32", 0) for name in sorted(vocabularies()[key].activations))
    assert judge(key, (BF16, *beside)).quantized is False
    assert judge(key, beside) == (None, "no weight")


@pytest.mark.parametrize("key", sorted(vocabularies()))
def test_no_name_has_two_meanings(key):
    words = vocabularies()[key]
    parts = [words.weights, words.packed, words.companions, words.activations]
    assert sum(map(len, parts)) == len(frozenset().union(*parts))


def test_every_format_but_the_union_names_its_sources():
    assert all(words.sources and words.methods for words in vocabularies().values())


def test_no_method_belongs_to_two_formats():
    methods = [method for key, words in vocabularies().items() if key != UNKNOWN for method in words.methods]
    assert len(methods) == len(set(methods))


def test_float_weight_beside_a_scale_is_a_conflict():
    verdict = judge("compressed-tensors", (BF16, ("weight_scale", "f32", 2)))
    assert verdict == (False, "conflict: weight bf16 beside weight_scale f32")


def test_evidence_names_the_tensors_and_stays_short():
    scales = tuple((name, "f32", 1) for name in ("weight_scale", "weight_zero_point", "weight_g_idx"))
    verdict = judge("compressed-tensors", (("weight_packed", "i32", 2), *scales))
    assert verdict.evidence == "weight_packed i32, weight_scale f32, weight_zero_point f32 and 1 more"


def test_names_alone_can_tell():
    packed = (("weight_packed", None, None), ("weight_scale", None, None))
    scaled = (("weight", None, None), ("weight_scale_inv", None, None))
    bare = (("weight", None, None),)
    assert judge("compressed-tensors", packed) == (True, "weight_packed, weight_scale")
    assert judge("fp8", scaled) == (True, "weight, weight_scale_inv, dtypes unknown")
    assert judge("fp8", bare) == (False, "weight, dtype unknown, and none of fp8's scales")
    assert judge(UNKNOWN, bare) == (None, "weight, dtype and format unknown")


def test_scales_without_their_weight_do_not_tell():
    assert judge("fp8", (("weight_scale_inv", "f32", 2),)) == (None, "weight_scale_inv f32 without a weight")


def test_a_packed_name_of_another_format_counts():
    assert judge("fp8", (("weight_packed", "i32", 2),)).quantized is True


def test_packed_dtypes_are_dtypes():
    assert PACKED_DTYPES < DTYPES
    assert not PACKED_DTYPES & {"bf16", "f16", "f32", "f64", "i64", "u64", "c64"}


@pytest.mark.parametrize(
    ("quantization", "key"),
    [
        (None, UNKNOWN),
        ({}, UNKNOWN),
        ({"quant_method": "compressed-tensors"}, "compressed-tensors"),
        ({"quant_method": "compressed_tensors"}, "compressed-tensors"),
        ({"quant_method": "FP8"}, "fp8"),
        ({"quant_method": "a-new-one"}, UNKNOWN),
        ({"quant_method": 5}, UNKNOWN),
        ({"quant_algo": "NVFP4", "exclude_modules": []}, "modelopt"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {}}, "modelopt"),
        ({"qformat_weight": "fp8_e4m3"}, "fp8"),
        ({"bits": 4, "group_size": 128, "desc_act": False, "damp_percent": 0.01}, "gptq"),
        ({"w_bit": 4, "q_group_size": 128, "zero_point": True}, "awq"),
        ({"bits": 4, "group_size": 64}, "mlx"),
        ({"bits": 4, "group_size": 128, "autoround_version": "0.4"}, "auto-round"),
    ],
)
def test_format_of_a_quantization_config(quantization, key):
    assert format_of(quantization) == key
