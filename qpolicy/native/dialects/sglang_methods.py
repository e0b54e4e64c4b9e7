"""The dialects that SGLang defines for itself."""

from __future__ import annotations

from pydantic import StrictStr

from qpolicy.native.published import Names, Published


class BlockwiseInt8(Published):
    """Block-wise int8."""

    DIALECT = "blockwise_int8"
    METHODS = ("blockwise_int8",)
    LISTS = ("ignored_layers", "modules_to_not_convert", "ignore")
    ignored_layers: Names = None
    modules_to_not_convert: Names = None
    ignore: Names = None
    activation_scheme: StrictStr | None = None


class W8A8Int8(Published):
    """Channel-wise int8."""

    DIALECT = "w8a8_int8"
    METHODS = ("w8a8_int8",)
    LISTS = ("ignore",)
    ignore: Names = None


class W8A8Fp8(Published):
    """Channel-wise fp8, without a list."""

    DIALECT = "w8a8_fp8"
    METHODS = ("w8a8_fp8",)


class W4AFp8(Published):
    """Experts in int4, all other layers in fp8; a list is published now and then."""

    DIALECT = "w4afp8"
    METHODS = ("w4afp8",)
    LISTS = ("ignored_layers", "modules_to_not_convert", "ignore")
    ignored_layers: Names = None
    modules_to_not_convert: Names = None
    ignore: Names = None


class Gguf(Published):
    """GGUF, which says in its own file how each tensor is stored."""

    DIALECT = "gguf"
    METHODS = ("gguf",)


class QuarkInt4Fp8Moe(Published):
    """Quantization while loading: experts in int4, all other layers in fp8."""

    DIALECT = "quark_int4fp8_moe"
    METHODS = ("quark_int4fp8_moe",)
