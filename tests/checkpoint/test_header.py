import json
import re

import pytest
from checkpoints import BITS, header_of, write_raw, write_safetensors
from hypothesis import given, settings
from hypothesis import strategies as st

from qpolicy.checkpoint.dtypes import BITS as KNOWN_BITS
from qpolicy.checkpoint.dtypes import DTYPES
from qpolicy.checkpoint.header import LENGTH_LIMIT, NAME_LIMIT, read_header
from qpolicy.errors import CheckpointError

ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


class Guarded:
    """A file that fails a test which reads past its header."""

    def __init__(self, path):
        self.file = path.open("rb", buffering=0)
        self.end = 8 + int.from_bytes(self.file.read(8), "little")
        self.file.seek(0)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.file.close()

    def read(self, count):
        assert 0 <= count <= self.end - self.file.tell(), "read past the header"
        return self.file.read(count)


def refusal(path):
    with pytest.raises(CheckpointError) as caught:
        read_header(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "expected" in message
    return message.removeprefix(f"{path}: ")


def header_file(tmp_path, header, data_bytes=24):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return write_raw(tmp_path / "model.safetensors", text, data_bytes)


def test_reads_names_dtypes_and_shapes_in_order(tmp_path):
    tensors = {"b.weight": ("BF16", (4, 2)), "a.weight": ("F8_E4M3", (3,)), "scale": ("F32", ())}
    header = read_header(write_safetensors(tmp_path / "m.safetensors", tensors, {"format": "pt"}))
    assert [tuple(tensor) for tensor in header.values()] == [
        ("b.weight", "bf16", (4, 2), "m.safetensors"),
        ("a.weight", "f8_e4m3", (3,), "m.safetensors"),
        ("scale", "f32", (), "m.safetensors"),
    ]


def test_reads_nothing_past_the_header(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", {"a.weight": ("BF16", (4, 2))})
    assert read_header(path, Guarded).keys() == {"a.weight"}
    with Guarded(path) as file, pytest.raises(AssertionError, match="read past the header"):
        file.read(10**6)


def test_knows_every_dtype_and_its_width(tmp_path):
    assert KNOWN_BITS == BITS
    assert {dtype.upper() for dtype in DTYPES} == set(BITS)
    tensors = {f"t.{dtype}": (dtype, (2, 8)) for dtype in BITS}
    read = read_header(write_safetensors(tmp_path / "m.safetensors", tensors))
    assert {tensor.dtype for tensor in read.values()} == DTYPES


def test_follows_links_as_in_a_hub_snapshot(tmp_path):
    write_safetensors(tmp_path / "blob", {"a": ("U8", (1,))})
    (tmp_path / "model.safetensors").symlink_to("blob")
    assert read_header(tmp_path / "model.safetensors")["a"].file == "model.safetensors"


def test_empty_header_and_zero_sized_tensors(tmp_path):
    assert read_header(header_file(tmp_path, {}, 0)) == {}
    tensors = {"none.a": ("BF16", (0, 5)), "some": ("U8", (3,)), "none.b": ("F4", (0,))}
    assert len(read_header(write_safetensors(tmp_path / "z.safetensors", tensors))) == 3


@pytest.mark.parametrize("indent", [None, 2])
def test_any_layout_and_order_of_keys(tmp_path, indent):
    entries = {
        "b": dict(reversed(ENTRY.items())),
        "__metadata__": {"a \u00e9": '"{['},
        "\u00e9": ENTRY | {"data_offsets": [24, 48]},
    }
    header = read_header(header_file(tmp_path, json.dumps(entries, indent=indent).encode() + b"  ", 48))
    assert list(header) == ["b", "\u00e9"]


def test_tensors_may_lie_in_any_order(tmp_path):
    entries = {"b": ENTRY | {"data_offsets": [24, 48]}, "a": ENTRY}
    assert list(read_header(header_file(tmp_path, entries, 48))) == ["b", "a"]


def test_sub_byte_shapes_must_fill_bytes(tmp_path):
    ok = {"w": {"dtype": "F6_E2M3", "shape": [4], "data_offsets": [0, 3]}}
    assert read_header(header_file(tmp_path, ok, 3))["w"].dtype == "f6_e2m3"
    odd = {"w": {"dtype": "F4", "shape": [3], "data_offsets": [0, 1]}}
    assert "F4 of shape [3]; expected a shape that fills whole bytes" in refusal(header_file(tmp_path, odd, 1))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "byte 8: the end of the header; expected a JSON object"),
        (b"[]", "byte 8: '[]'; expected a JSON object"),
        (b"\xff{}", "byte 8: the byte 0xff; expected UTF-8 text"),
        (b'{"a\xc3(": {}}', "byte 11: the byte 0xc3; expected UTF-8 text"),
        (b"{" * 100_000, "byte 9: '{{{"),
        (b'{"a":' + b"[" * 100_000, 'byte 9: \'"a":[[['),
        (b'{"a":{"dtype":' * 50_000, 'byte 14: \'"dtype":{"a"'),
        (b"{} x", "byte 10: 'x'; expected only spaces after the last brace"),
        (b"{}\0", "byte 10: '\\x00'; expected only spaces"),
        ({"a": 5}, "byte 9: '\"a\": 5}'; expected an entry"),
        ({"a": ENTRY | {"dtype": 5}}, "expected an entry"),
        ({"a": ENTRY | {"shape": "2,3"}}, "expected an entry"),
        ({"a": ENTRY | {"shape": [2, [3]]}}, "expected an entry"),
        ({"a": ENTRY | {"shape": [-2, -3]}}, "expected up to 64 whole numbers, none negative"),
        ({"a": ENTRY | {"shape": [2.0, 3]}}, "expected up to 64 whole numbers, none negative"),
        ({"a": ENTRY | {"shape": [1] * 65}}, "expected up to 64 whole numbers, none negative"),
        ({"a": ENTRY | {"data_offsets": [0]}}, "expected an entry"),
        (b'{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[00,24]}}', "expected an entry"),
        (b'{"a":{"dtype":"F32","shape":[02,3],"data_offsets":[0,24]}}', "expected up to 64 whole numbers"),
        (b'{"a":{"dtype":" F32","shape":[2,3],"data_offsets":[0,24]}}', "the dtype ' F32'"),
        ({"a": ENTRY | {"data_offsets": [-24, 0]}}, "expected an entry"),
        ({"a": ENTRY | {"data_offsets": [24, 0]}}, "an end before the begin; expected 24 bytes"),
        ({"a": ENTRY | {"data_offsets": [0, 10**30]}}, "expected an entry"),
        ({"a": ENTRY | {"data_offsets": [0, 20]}}, "20 bytes; expected 24 bytes for F32 and shape [2, 3]"),
        ({"a": ENTRY | {"shape": [10**18, 10**18]}}, "24 bytes; expected 4000000"),
        ({"a": ENTRY | {"dtype": "F99"}}, "the dtype 'F99'"),
        ({"a": {"dtype": "F32", "shape": []}}, "with data_offsets ''; expected an entry"),
        ({"a": ENTRY | {"more": "x"}}, "the key 'more'; expected dtype, shape and data_offsets, each once"),
        ({"": ENTRY}, "the tensor name ''; expected 1 to 1024 printable characters"),
        ({"a\nb": ENTRY}, "the tensor name 'a\\nb'"),
        ({"a\u202eb": ENTRY}, "the tensor name 'a\\u202eb'"),
        ({"a\ud800": ENTRY}, "the tensor name 'a\\ud800'"),
        ({"a" * (NAME_LIMIT + 1): ENTRY}, "the tensor name 'aaaa"),
        ({"__metadata__": ENTRY}, "'__metadata__' as a tensor"),
        ({"__metadata__": {"a": 5}}, "nothing else in __metadata__"),
        ({"__metadata__": {"a": {}}}, "nothing else in __metadata__"),
        (b'{"__metadata__":{},"__metadata__":{}}', "'__metadata__' a second time"),
        (b'{"\\x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', "the text '\\\\x'; expected a JSON string"),
        ({"a": ENTRY, "b": ENTRY}, "'b' begins at 0 and overlaps the tensor before it; expected 24"),
        ({"a": ENTRY | {"data_offsets": [8, 32]}}, "'a' begins at 8 and leaves a gap before it; expected 0"),
    ],
)
def test_refuses_a_broken_or_hostile_header(tmp_path, header, message):
    refused = refusal(header_file(tmp_path, header))
    assert re.match(r"byte \d+: ", refused)
    assert message in refused
    assert len(refused) < 500


def test_refuses_the_same_tensor_twice_at_its_byte(tmp_path):
    entry = json.dumps({"a": ENTRY})[1:-1]
    second = json.dumps({"\u00e9": ENTRY | {"data_offsets": [24, 48]}}, ensure_ascii=False)[1:-1]
    text = f"{{{entry},{second},{entry}}}".encode()
    message = refusal(header_file(tmp_path, text, 72))
    at = 8 + text.rindex(b'"a"')
    assert message.startswith(f"byte {at}: the tensor 'a' a second time")


@pytest.mark.parametrize("size", [0, 7])
def test_refuses_a_file_without_a_length(tmp_path, size):
    path = tmp_path / "m.safetensors"
    path.write_bytes(b"\0" * size)
    assert refusal(path).startswith(f"byte {size}: the file ends after {size} bytes")


def test_refuses_a_length_beyond_the_file_or_the_format(tmp_path):
    path = write_raw(tmp_path / "m.safetensors", b"{}", 10, length=13)
    assert "a header of 13 bytes in a file of 20; expected at most 12: the file is truncated" in refusal(path)
    write_raw(path, b"{}", 10**9, length=LENGTH_LIMIT + 1)
    assert f"expected at most {LENGTH_LIMIT}" in refusal(path)
    write_raw(path, b"{}", 0, length=2**64 - 1)
    assert "byte 0: a header of 18446744073709551615 bytes" in refusal(path)


@pytest.mark.parametrize("data_bytes", [0, 23, 25])
def test_refuses_truncated_and_overlong_data(tmp_path, data_bytes):
    path = header_file(tmp_path, {"a": ENTRY}, data_bytes)
    assert f"{data_bytes} bytes of data; expected 24, as the header says" in refusal(path)


def test_refuses_more_tensors_than_any_model_has(tmp_path, monkeypatch):
    monkeypatch.setattr("qpolicy.checkpoint.header.TENSOR_LIMIT", 1)
    write_safetensors(tmp_path / "m.safetensors", {"a": ("U8", (1,)), "b": ("U8", (1,))})
    assert "2 tensors; expected at most 1 in one file" in refusal(tmp_path / "m.safetensors")


def test_refuses_what_is_no_file(tmp_path):
    (tmp_path / "d.safetensors").mkdir()
    assert "not a regular file" in refusal(tmp_path / "d.safetensors")
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        read_header(tmp_path / "absent.safetensors")


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.text("ab.\u00e9_0", min_size=1),
        st.tuples(st.sampled_from(sorted(BITS)), st.lists(st.integers(0, 9), max_size=4)),
    )
)
def test_any_sound_header_is_read(tmp_path_factory, tensors):
    whole = {name: (dtype, (*shape, 8)) for name, (dtype, shape) in tensors.items()}
    path = write_safetensors(tmp_path_factory.mktemp("h") / "m.safetensors", whole)
    read = read_header(path, Guarded)
    assert {name: (tensor.dtype.upper(), tensor.shape) for name, tensor in read.items()} == whole
    assert list(read) == list(whole)


@settings(max_examples=60)
@given(st.data())
def test_no_damage_gives_another_error(tmp_path_factory, data):
    header, size = header_of({"a.weight": ("BF16", (2, 2)), "b.weight": ("F8_E4M3", (3,))}, {"format": "pt"})
    text = bytearray(json.dumps(header).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'{}[]",:0-9\\u\n\0\xff ae'))
    path = write_raw(tmp_path_factory.mktemp("h") / "m.safetensors", bytes(text), size)
    try:
        read = read_header(path)
    except CheckpointError as error:
        assert str(error).startswith(f"{path}: byte ")
    else:
        assert len(read) == 2
