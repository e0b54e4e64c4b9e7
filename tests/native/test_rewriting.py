from __future__ import annotations

import pytest

from qpolicy.native import Mapper


@pytest.mark.parametrize(
    ("mapper", "text", "renamed"),
    [
        (Mapper({"model.layers.61": "model.decoder"}), "re:model.layers.61.*", "re:model.decoder.*"),
        (Mapper({"model.layers.61": "model.decoder"}), r"re:model\.layers\.61\..*", r"re:model\.layers\.61\..*"),
        (Mapper({"model.layers.61": "model.decoder"}), "model.layers.610.x", "model.decoder0.x"),
        (Mapper({"a": "x", "aa": "y"}), "aaa", "ya"),
        (Mapper(prefix={"model.": "", "model.visual.": "visual."}), "model.visual.model.x", "visual.model.x"),
        (Mapper(prefix={"model.language_model.": "model."}), "model.language_model", "model.language_model"),
        (Mapper(suffix={"_proj": ".w"}), "q_proj_proj", "q_proj.w"),
        (Mapper(substr={"a": "b"}, prefix={"b": "c"}, suffix={"c": "d"}), "a", "d"),
        (Mapper({"mtp": None}), "x.mtp.y", None),
        (Mapper({"mtp": "x"}, prefix={"x": None}), "mtp.y", None),
        (Mapper(), "same", "same"),
    ],
)
def test_rewriting(mapper: Mapper, text: str, renamed: str | None) -> None:
    assert mapper.rename(text) == renamed
