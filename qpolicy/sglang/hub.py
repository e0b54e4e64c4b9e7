"""Describes a checkpoint on the hub as a local folder: policy, configs, index, and the headers of its weights.

Only the first bytes of each weights file are fetched. The folder holds them in files of the full length that take no
space on disk, so that it reads like the whole checkpoint.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from qpolicy.sglang.settings import FILE, Mode
from qpolicy.sglang.stop import PolicyStop

logger = logging.getLogger("qpolicy.sglang")

_POLICY, _WEIGHTS = ".qpolicy", ".safetensors"
_DESCRIBING = (_POLICY, ".json")
_LENGTH = 8
_LONGEST_HEADER = 100 << 20  # the limit of the format


class Hub(Protocol):
    """What is needed of a hub at one revision of one repository."""

    @property
    def commit(self) -> str:
        """The commit that the revision stands for."""

    def sizes(self) -> dict[str, int]:
        """Return the files of the repository's top folder with their sizes in bytes."""

    def read(self, file: str, start: int, count: int) -> bytes:
        """Read a part of a file."""


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """The hub itself, through ``huggingface_hub``."""

    repository: str
    info: Any

    @classmethod
    def at(cls, repository: str, revision: str | None) -> HuggingFace:
        """Look up a repository at a revision."""
        import huggingface_hub  # noqa: PLC0415 - needed for models on the hub only

        return cls(repository, huggingface_hub.HfApi().model_info(repository, revision=revision, files_metadata=True))

    @property
    def commit(self) -> str:
        """The commit that the revision stands for."""
        return str(self.info.sha)

    def sizes(self) -> dict[str, int]:
        """Return the files of the repository's top folder with their sizes in bytes."""
        return {file.rfilename: file.size or 0 for file in self.info.siblings if "/" not in file.rfilename}

    def read(self, file: str, start: int, count: int) -> bytes:
        """Read a part of a file by a range request."""
        import huggingface_hub  # noqa: PLC0415

        remote = huggingface_hub.HfFileSystem()
        return bytes(remote.cat_file(f"{self.repository}@{self.commit}/{file}", start=start, end=start + count))


def fetch(repository: str, revision: str | None, *, wanted: bool, cache_dir: str | None, mode: Mode) -> Path | None:
    """Return a local folder that describes a checkpoint on the hub, or None where it has no policy.

    Args:
        repository: The hub id.
        revision: The revision, or None for the default one.
        wanted: Whether a policy is given from elsewhere, so that the checkpoint is needed without one of its own.
        cache_dir: Where hub files are cached, if not at the default place.
        mode: What becomes of a repository of which it is not known whether it has a policy.

    Raises:
        PolicyStop: Something that is needed is neither in the cache nor to be had.
    """
    try:
        from huggingface_hub import constants  # noqa: PLC0415
    except ImportError as error:
        raise PolicyStop(f"{repository} is no local folder; install huggingface_hub to read it from the hub") from error
    cache = Path(cache_dir or constants.HF_HUB_CACHE)
    if constants.HF_HUB_OFFLINE:
        return cached(cache, repository, revision, wanted, mode)
    try:
        hub = HuggingFace.at(repository, revision)
        return described(hub, folder_for(cache, repository, hub.commit), wanted)
    except PolicyStop:
        raise
    except Exception as error:
        raise PolicyStop(f"{repository}: its policy and headers cannot be fetched: {error}") from error


def folder_for(cache: Path, repository: str, commit: str) -> Path:
    """Return where the description of a repository at a commit is kept."""
    return cache / "qpolicy" / repository.replace("/", "--") / commit


def described(hub: Hub, folder: Path, wanted: bool) -> Path | None:
    """Describe a repository in a folder; None where it has no policy and none is given from elsewhere.

    Raises:
        PolicyStop: A weights file is no safetensors file.
    """
    sizes = hub.sizes()
    if not wanted and not any(name.endswith(_POLICY) for name in sizes):
        return None
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for name, size in sizes.items():
            if name.endswith(_DESCRIBING):
                (work / name).write_bytes(hub.read(name, 0, size))
            elif name.endswith(_WEIGHTS):
                _write_header(hub, name, size, work / name)
        os.replace(work, folder)  # noqa: PTH105 - it must not be half there for another rank
    except OSError:
        # Another rank was faster.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def cached(cache: Path, repository: str, revision: str | None, wanted: bool, mode: Mode) -> Path | None:
    """Do what :func:`fetch` does without a network: from an earlier description, or from a downloaded snapshot.

    Raises:
        PolicyStop: Neither is there, or it lacks what is needed.
    """
    snapshot = _snapshot(cache, repository, revision)
    if snapshot is None:
        raise PolicyStop(f"{repository}: offline, and revision {revision or 'main'} is not in {cache}. {_ONLINE}")
    earlier = folder_for(cache, repository, snapshot.name)
    if earlier.is_dir():
        return earlier
    if not wanted and not list(snapshot.glob(f"*{_POLICY}")):
        _without_policy(repository, snapshot, mode)
        return None
    missing = _missing(snapshot)
    if missing:
        raise PolicyStop(f"{repository}: offline, and {snapshot} lacks {', '.join(missing)}. {_ONLINE}")
    return snapshot


_ONLINE = "Start once with a network, or download the repository"


def _without_policy(repository: str, snapshot: Path, mode: Mode) -> None:
    # Every repository has this file and SGLang never asks for it: who has it downloaded all, a policy included.
    if (snapshot / ".gitattributes").exists():
        return
    message = (
        f"{repository}: offline, and whether it has a policy is not known, because only parts of it are in {snapshot}. "
        f"{_ONLINE}; or name a policy in {FILE}"
    )
    if mode is Mode.STRICT:
        raise PolicyStop(message)
    logger.error("qpolicy: %s", message)


def _snapshot(cache: Path, repository: str, revision: str | None) -> Path | None:
    home = cache / f"models--{repository.replace('/', '--')}"
    name = revision or "main"
    reference = home / "refs" / name
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else name
    snapshot = home / "snapshots" / commit
    return snapshot if snapshot.is_dir() else None


def _missing(snapshot: Path) -> Sequence[str]:
    """Return what a snapshot lacks to be read as a checkpoint: a config, or files that its index names."""
    from qpolicy.checkpoint import open_checkpoint  # noqa: PLC0415

    if not (snapshot / "config.json").exists():
        return ("config.json",)
    found = [problem for problem in open_checkpoint(snapshot).problems if problem.kind == "missing-shard"]
    if found:
        return tuple(name for problem in found for name in problem.tensors)
    return () if list(snapshot.glob(f"*{_WEIGHTS}")) else ("its weights files",)


def _write_header(hub: Hub, name: str, size: int, path: Path) -> None:
    start = hub.read(name, 0, min(_LENGTH, size))
    length = int.from_bytes(start, "little")
    if len(start) < _LENGTH or not 0 < length <= min(size - _LENGTH, _LONGEST_HEADER):
        raise PolicyStop(f"{name}: not a safetensors file, its header would be {length} bytes of {size}")
    with path.open("wb") as file:
        file.write(start + hub.read(name, _LENGTH, length))
        file.truncate(size)
