"""Where the plugin finds a policy: the settings, folders, and the hub with and without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkpoints import write_safetensors

from qpolicy import open_checkpoint
from qpolicy.errors import QPolicyError
from qpolicy.lang import PolicySyntaxError
from qpolicy.sglang import hub
from qpolicy.sglang.find import find
from qpolicy.sglang.settings import Mode, Settings, read_settings
from qpolicy.sglang.stop import PolicyStop

POLICY = "qpolicy 1\nlm_head: unquantized\n"
COMMIT = "0123abcd"


def _checkpoint(folder: Path, policy: str | None = POLICY) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"]}))
    write_safetensors(folder / "model.safetensors", {"lm_head.weight": ("BF16", (8, 4))})
    if policy is not None:
        (folder / "model.qpolicy").write_text(policy)
    return folder


@pytest.mark.parametrize("word", ["strict", "warn", "off", " Strict "])
def test_modes(word: str) -> None:
    assert read_settings({"QPOLICY_MODE": word}).mode is Mode(word.strip().lower())


def test_default_is_strict_without_a_policy() -> None:
    assert read_settings({}) == Settings(Mode.STRICT, None)


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(QPolicyError, match="QPOLICY_MODE=loose: expected one of strict, warn, off"):
        read_settings({"QPOLICY_MODE": "loose"})


def test_shipped_policy_by_name() -> None:
    policy = read_settings({"QPOLICY_FILE": "builtin:trust-tensors"}).policy
    assert policy is not None
    assert policy.source.name.endswith("trust-tensors.qpolicy")
    with pytest.raises(QPolicyError, match=r"builtin:no-such: qpolicy ships no policy.*trust-tensors"):
        read_settings({"QPOLICY_FILE": "builtin:no-such"})


def test_policy_beside_the_checkpoint(tmp_path: Path) -> None:
    found = find(str(_checkpoint(tmp_path / "a")), None, Settings())
    assert found is not None
    assert (found.folder, found.policy.source.text) == (tmp_path / "a", POLICY)


def test_no_policy(tmp_path: Path) -> None:
    assert find(str(_checkpoint(tmp_path / "a", None)), None, Settings()) is None


def test_file_of_a_checkpoint_stands_for_its_folder(tmp_path: Path) -> None:
    found = find(str(_checkpoint(tmp_path / "a") / "model.safetensors"), None, Settings())
    assert found is not None
    assert found.folder == tmp_path / "a"


def test_two_policies_are_an_error(tmp_path: Path) -> None:
    (_checkpoint(tmp_path / "a") / "other.qpolicy").write_text(POLICY)
    with pytest.raises(PolicyStop, match=r"several policy files lie here \(model.qpolicy, other.qpolicy\)"):
        find(str(tmp_path / "a"), None, Settings())


def test_broken_policy_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicySyntaxError, match=r"model.qpolicy:2:10"):
        find(str(_checkpoint(tmp_path / "a", "qpolicy 1\nlm_head: plain\n")), None, Settings())


def test_given_file_counts_in_place_of_the_one_beside(tmp_path: Path) -> None:
    (tmp_path / "mine.qpolicy").write_text("qpolicy 1\n")
    settings = read_settings({"QPOLICY_FILE": str(tmp_path / "mine.qpolicy")})
    found = find(str(_checkpoint(tmp_path / "a")), None, settings)
    assert found is not None
    assert found.policy is settings.policy


def test_other_stores_have_no_policy_and_take_none(tmp_path: Path) -> None:
    (tmp_path / "mine.qpolicy").write_text("qpolicy 1\n")
    assert find("s3://bucket/model", None, Settings()) is None
    with pytest.raises(PolicyStop, match="local folder or a hub id"):
        find("s3://bucket/model", None, read_settings({"QPOLICY_FILE": str(tmp_path / "mine.qpolicy")}))


class FolderHub:
    """A folder that answers like a hub, and counts the bytes that it hands out."""

    commit = COMMIT

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given: dict[str, int] = {}

    def sizes(self) -> dict[str, int]:
        return {path.name: path.stat().st_size for path in self.folder.iterdir()}

    def read(self, file: str, start: int, count: int) -> bytes:
        data = (self.folder / file).read_bytes()[start : start + count]
        self.given[file] = self.given.get(file, 0) + len(data)
        return data


def test_hub_checkpoint_is_described_from_its_first_bytes(tmp_path: Path) -> None:
    origin = _checkpoint(tmp_path / "origin")
    big = write_safetensors(origin / "model.safetensors", {"lm_head.weight": ("BF16", (1024, 1024))}).stat().st_size
    remote = FolderHub(origin)
    folder = hub.described(remote, tmp_path / "cache" / COMMIT, wanted=False)
    assert folder is not None
    assert remote.given["model.safetensors"] < 500
    assert (folder / "model.safetensors").stat().st_size == big
    described, original = open_checkpoint(folder), open_checkpoint(origin)
    assert described.modules == original.modules
    assert [path.name for path in described.policy_files] == ["model.qpolicy"]
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [COMMIT]


def test_hub_checkpoint_is_described_once(tmp_path: Path) -> None:
    origin = _checkpoint(tmp_path / "origin")
    hub.described(FolderHub(origin), tmp_path / "cache" / COMMIT, wanted=False)
    again = FolderHub(origin)
    assert hub.described(again, tmp_path / "cache" / COMMIT, wanted=False) == tmp_path / "cache" / COMMIT
    assert again.given == {}


def test_hub_checkpoint_without_a_policy_costs_nothing(tmp_path: Path) -> None:
    remote = FolderHub(_checkpoint(tmp_path / "origin", None))
    assert hub.described(remote, tmp_path / "cache" / COMMIT, wanted=False) is None
    assert remote.given == {}
    assert hub.described(remote, tmp_path / "cache" / COMMIT, wanted=True) is not None


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 16])
def test_hub_file_that_is_no_safetensors_file_is_refused(tmp_path: Path, content: bytes) -> None:
    origin = _checkpoint(tmp_path / "origin")
    (origin / "model.safetensors").write_bytes(content)
    with pytest.raises(PolicyStop, match=r"model\.safetensors: not a safetensors file"):
        hub.described(FolderHub(origin), tmp_path / "cache" / COMMIT, wanted=False)
    assert list((tmp_path / "cache").iterdir()) == []


def _snapshot(cache: Path, policy: str | None = POLICY, revision: str = "main") -> Path:
    home = cache / "models--org--model"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / revision).write_text(COMMIT)
    return _checkpoint(home / "snapshots" / COMMIT, policy)


def _cached(cache: Path, revision: str | None = None, *, wanted: bool = False, mode: Mode = Mode.STRICT) -> Path | None:
    return hub.cached(cache, "org/model", revision, wanted, mode)


def test_offline_snapshot_with_a_policy(tmp_path: Path) -> None:
    snapshot = _snapshot(tmp_path)
    assert _cached(tmp_path) == snapshot
    assert _cached(tmp_path, COMMIT) == snapshot


def test_offline_earlier_description_is_used(tmp_path: Path) -> None:
    snapshot = _snapshot(tmp_path, None)
    earlier = hub.folder_for(tmp_path, "org/model", COMMIT)
    hub.described(FolderHub(snapshot), earlier, wanted=True)
    assert _cached(tmp_path, wanted=True) == earlier


@pytest.mark.parametrize("revision", [None, "other"])
def test_offline_without_the_revision_is_an_error(tmp_path: Path, revision: str | None) -> None:
    if revision is not None:
        _snapshot(tmp_path)
    with pytest.raises(PolicyStop, match=r"org/model: offline, and revision (main|other) is not in"):
        _cached(tmp_path, revision)


@pytest.mark.parametrize(
    ("file", "missing"), [("config.json", "config.json"), ("model.safetensors", "its weights files")]
)
def test_offline_without_config_or_headers_is_an_error(tmp_path: Path, file: str, missing: str) -> None:
    (_snapshot(tmp_path) / file).unlink()
    with pytest.raises(PolicyStop, match=f"offline, and .* lacks {missing}"):
        _cached(tmp_path)


def test_offline_without_a_shard_of_the_index_is_an_error(tmp_path: Path) -> None:
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "model.safetensors", "a.weight": "gone.safetensors"}}
    (_snapshot(tmp_path) / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(PolicyStop, match=r"lacks gone\.safetensors"):
        _cached(tmp_path)


def test_offline_parts_without_a_policy_tell_nothing(tmp_path: Path) -> None:
    _snapshot(tmp_path, None)
    with pytest.raises(PolicyStop, match="whether it has a policy is not known"):
        _cached(tmp_path)
    assert _cached(tmp_path, mode=Mode.WARN) is None


def test_offline_whole_repository_without_a_policy_has_none(tmp_path: Path) -> None:
    (_snapshot(tmp_path, None) / ".gitattributes").write_text("")
    assert _cached(tmp_path) is None


def test_hub_id_is_looked_up_in_the_cache_when_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(PolicyStop, match="org/model: offline"):
        find("org/model", None, Settings())
    snapshot = _snapshot(tmp_path)
    found = find("org/model", None, Settings())
    assert found is not None
    assert found.folder == snapshot
    assert find("org/model", None, Settings(), cache_dir=str(tmp_path)) == found


def test_hub_that_cannot_be_reached_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)

    def unreachable(*_: object) -> hub.HuggingFace:
        raise ConnectionError("no route")

    monkeypatch.setattr(hub.HuggingFace, "at", unreachable)
    with pytest.raises(PolicyStop, match="org/model: its policy and headers cannot be fetched: no route"):
        find("org/model", None, Settings(), cache_dir=str(tmp_path))
