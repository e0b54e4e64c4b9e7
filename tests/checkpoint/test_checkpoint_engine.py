"""The reader and the tables against the installed packages that they speak of."""

import json
import random

import pytest
from checkpoints import header_of, write_raw

from qpolicy.checkpoint.families import FUSED
from qpolicy.checkpoint.header import read_header
from qpolicy.checkpoint.vocabulary import vocabularies
from qpolicy.errors import CheckpointError

pytestmark = pytest.mark.engine


def damaged(text, source):
    text = bytearray(text)
    for _ in range(source.choice([1, 1, 2, 3])):
        at, kind = source.randrange(len(text)), source.random()
        new = source.choice(b'{}[]",:0123456789-\\uABF_ae \n\t.')
        if kind < 0.5:
            text[at] = new
        elif kind < 0.75:
            del text[at]
        else:
            text.insert(at, new)
    return bytes(text)


def test_what_the_reference_reader_refuses_is_refused(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    header, size = header_of({"a.weight": ("BF16", (2, 2)), "b": ("F8_E4M3", (3,)), "c": ("F4", (4, 2))}, {"a": "b"})
    plain, source = json.dumps(header, separators=(",", ":")).encode(), random.Random(5)
    accepted = 0
    for _ in range(3000):
        path = write_raw(tmp_path / "m.safetensors", damaged(plain, source), size)
        try:
            names = {name for name, _ in safetensors.deserialize(path.read_bytes())}
        except safetensors.SafetensorError:
            with pytest.raises(CheckpointError):
                read_header(path)
            continue
        accepted += 1
        try:
            assert read_header(path).keys() == names
        except CheckpointError as error:
            assert "the tensor name" in str(error)
    assert accepted > 100


def test_compressed_tensors_parameters_are_known():
    pytest.importorskip("compressed_tensors")
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.compressors.format import infer_module_format
    from compressed_tensors.quantization import preset_name_to_scheme
    from torch.nn import Linear

    words = vocabularies()["compressed-tensors"]
    formats = set()
    for preset in ["W4A16", "W4A16_ASYM", "W8A8", "W4AFP8", "FP8", "FP8_BLOCK", "NVFP4", "NVFP4A16", "MXFP4", "MXFP8"]:
        scheme = preset_name_to_scheme(preset, ["Linear"])
        form = infer_module_format(Linear, scheme)
        names = BaseCompressor.get_value_from_registry(form.value).compression_param_names(scheme)
        assert set(names) <= words.weights | words.packed | words.companions
        formats.add(form.value)
    assert {"pack-quantized", "int-quantized", "float-quantized", "nvfp4-pack-quantized"} <= formats


def test_fused_families_are_those_of_the_engine():
    pytest.importorskip("sglang")
    from importlib.util import find_spec
    from pathlib import Path

    models = Path(find_spec("sglang").submodule_search_locations[0], "srt", "models")
    text = "\n".join(path.read_text() for path in models.rglob("*.py"))
    assert all(f'"{name}"' in text for fused, parts in FUSED.items() for name in (fused, *parts))
