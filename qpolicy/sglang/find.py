"""Finds the policy for a model, and the folder that describes the model's checkpoint."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from qpolicy.bind import Policy, load
from qpolicy.bind.files import policy_beside
from qpolicy.errors import QPolicyError
from qpolicy.sglang.hub import fetch
from qpolicy.sglang.settings import FILE, Settings
from qpolicy.sglang.stop import PolicyStop

logger = logging.getLogger("qpolicy.sglang")


@dataclass(frozen=True, slots=True)
class Found:
    """A policy with the checkpoint that it is for.

    Attributes:
        policy: The policy.
        folder: A folder with the checkpoint's configs and headers.
    """

    policy: Policy
    folder: Path


def find(model: str, revision: str | None, settings: Settings, *, cache_dir: str | None = None) -> Found | None:
    """Find the policy for a model.

    Args:
        model: What SGLang calls the model's path: a folder, a file, a hub id, or the address of another store.
        revision: The hub revision, or None for the default one.
        settings: The plugin's settings.
        cache_dir: Where hub files are cached, if not at the default place.

    Returns:
        The policy that the settings name, else the one beside the checkpoint, else None.

    Raises:
        PolicySyntaxError: The file is not a policy.
        QPolicyError: There are several, or something that is needed cannot be fetched.
    """
    folder = _folder(model, revision, settings, cache_dir)
    if folder is None:
        return None
    policy = settings.policy or _beside(folder)
    return None if policy is None else Found(policy, folder)


def _folder(model: str, revision: str | None, settings: Settings, cache_dir: str | None) -> Path | None:
    if "://" in model:
        _remote(model, settings)
        return None
    path = Path(model)
    if path.is_dir():
        return path
    if path.is_file():
        return path.parent
    return fetch(model, revision, wanted=settings.policy is not None, cache_dir=cache_dir, mode=settings.mode)


def _remote(model: str, settings: Settings) -> None:
    if settings.policy is not None:
        raise PolicyStop(f"{model}: a policy needs a local folder or a hub id; unset {FILE} or copy the checkpoint")
    logger.warning("qpolicy: %s: policies are looked for in local folders and on the hub only", model)


def _beside(folder: Path) -> Policy | None:
    try:
        path = policy_beside(folder, by=FILE)
    except QPolicyError as error:
        raise PolicyStop(str(error)) from error
    return None if path is None else load(path)
