"""Writes qpolicy/sglang/architectures.json from what the installed SGLang builds.

Every architecture of scripts/architectures/*.toml is built on the meta device from a small synthetic config, with a
quantization config that answers every question with plain weights. Run it with an interpreter that has SGLang.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from qpolicy.sglang.architectures_table import merged, row
from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_run import run_jobs

DATA = Path(__file__).parent / "architectures"
TABLE = Path(__file__).parents[1] / "qpolicy" / "sglang" / "architectures.json"
LIMIT = 60.0
FORMATS = ("none", "quark")
"""The formats that models are built for: Quark is the one for which some drafts make other layers ask."""

Headers: TypeAlias = tuple[tuple[str, str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A synthetic model.

    Attributes:
        arch: Its architecture.
        config: Its config.json.
        draft: Whether it holds a draft of its own.
        standalone: Whether it is a draft itself.
        draft_index: Which of several draft layers to build, or None.
    """

    arch: str
    config: dict[str, Any]
    draft: bool = False
    standalone: bool = False
    draft_index: int | None = None

    @property
    def layers(self) -> int | None:
        """The target's number of layers, where the config says it."""
        text = self.config.get("text_config", self.config)
        count = text.get("num_hidden_layers", self.config.get("num_hidden_layers"))
        return None if count is None else int(count)


def models() -> tuple[Model, ...]:
    """Return every synthetic model of the data files."""
    found = {arch: Model(arch, _config(arch, {"type": type_})) for arch, type_ in _read("defaults").items()}
    for arch, entry in (*_read("targets").items(), *_read("drafts").items()):
        found[arch] = Model(
            arch,
            _config(arch, entry),
            entry.get("draft", False),
            entry.get("standalone", False),
            entry.get("draft_index"),
        )
    return tuple(found[arch] for arch in sorted(found))


def build(
    chosen: Iterable[Model], format_: str = FORMATS[0], tensors: Mapping[str, Headers] | None = None
) -> Iterator[tuple[Model, bool, Rehearsed]]:
    """Build models; yield each model, whether it was built as the draft, and what came of it.

    Args:
        chosen: The models.
        format_: What the config says that its format is.
        tensors: By architecture, headers of stored tensors; where there are some, the loading of the draft is followed,
            or of the target where there is no draft.
    """
    wanted = [(model, draft) for model in chosen for draft in ((False, True) if model.draft else (model.standalone,))]
    with tempfile.TemporaryDirectory() as name:
        jobs = []
        for number, (model, draft) in enumerate(wanted):
            folder = Path(name, str(number))
            folder.mkdir()
            (folder / "config.json").write_text(json.dumps(model.config), encoding="utf-8")
            index = model.draft_index if draft else None
            given = (tensors or {}).get(model.arch, ()) if draft or not model.draft else ()
            jobs.append(Job(str(folder), draft, given, draft_index=index, neutral=format_, limit=LIMIT))
        _, results = run_jobs(jobs, advance=lambda done: _tell(done, len(jobs)))
    yield from ((model, draft, result) for (model, draft), result in zip(wanted, results, strict=True))


def drafts(chosen: Iterable[Model]) -> tuple[Model, ...]:
    """Return the drafts among some models, each as a model to be built as a draft alone."""
    return tuple(replace(model, draft=False, standalone=True) for model in chosen if model.draft or model.standalone)


def table(results: Iterable[tuple[Model, bool, Rehearsed]]) -> dict[str, dict[str, Any]]:
    """Return the rows of the table, without the models that could not be built."""
    rows: dict[str, dict[str, Any]] = {}
    for model, draft, result in results:
        part = "draft" if draft else "target"
        if result.error is not None:
            print(f"{model.arch} {part}: {result.error}", file=sys.stderr)
            continue
        known = rows.setdefault(model.arch, {})
        known[part] = merged(known.get(part), row(result))
    return rows


def written(chosen: Sequence[Model]) -> dict[str, dict[str, Any]]:
    """Return the rows of some models, each built for every format."""
    return table(chain(build(chosen), chain.from_iterable(build(drafts(chosen), other) for other in FORMATS[1:])))


def render(rows: dict[str, dict[str, Any]], engine_version: str) -> str:
    """Return the table as it is stored: one line for each architecture's target and one for its draft."""
    lines = []
    for arch in sorted(rows):
        parts = [f'"{part}": {json.dumps(rows[arch][part])}' for part in sorted(rows[arch])]
        lines.append(f'"{arch}": {{\n' + ",\n".join(parts) + "\n}")
    head = f'"engine": "sglang",\n"version": "{engine_version}",\n"architectures": {{\n'
    return "{\n" + head + ",\n".join(lines) + "\n}\n}\n"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _config(arch: str, entry: dict[str, Any]) -> dict[str, Any]:
    config = {"architectures": [arch], "model_type": entry["type"], **entry.get("config", {})}
    inside = config[entry["repeat_in"]] if "repeat_in" in entry else config
    inside.update({key: [value] * times for key, (value, times) in entry.get("repeat", {}).items()})
    return config


def _tell(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} models built", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("architectures", nargs="*", help="only these, printed instead of written")
    chosen = parser.parse_args().architectures
    wanted = [model for model in models() if not chosen or model.arch in chosen]
    rows = written(wanted)
    text = render(rows, version("sglang"))
    if chosen:
        print(text, end="")
    else:
        TABLE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
