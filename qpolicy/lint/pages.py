"""The page of a code, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from qpolicy.lint.check import Code, Example, Page, Safety

_WIDTH = 100

_SAFETY: dict[Safety, str] = {
    "safe": "`qpolicy lint --fix` makes this fix; the policy means the same afterwards.",
    "unsafe": "`qpolicy lint --fix --unsafe-fixes` makes this fix; look at the result, the policy may mean something "
    "else afterwards.",
    "manual": "No fix is made for you.",
}


def markdown(code: Code) -> str:
    """Return a code's page, a newline at its end."""
    parts = [f"# {code.code} {code.name}", f"Usually: **{code.severity}**.", code.summary]
    if code.page is not None:
        parts += _rest(code.page, "qpolicy-error" if code.code.startswith("QP0") else "qpolicy")
    return "\n\n".join(_wrapped(part) for part in parts) + "\n"


def _rest(page: Page, tag: str) -> Iterator[str]:
    yield "## Why"
    yield from page.explanation.strip().split("\n\n")
    yield "## Found in"
    yield from _example(page.bad, tag)
    yield "## Not found in"
    yield from _example(page.good, "qpolicy", page.bad.checkpoint)
    yield "## Fix"
    yield page.fix
    yield _SAFETY[page.safety]


def _example(example: Example, tag: str, shown: str | None = None) -> Iterator[str]:
    """Yield an example; ``shown`` is the checkpoint that the page has shown already."""
    if example.checkpoint is not None and example.checkpoint != shown:
        yield f"```checkpoint\n{example.checkpoint.strip()}\n```"
    if example.policy is None:
        yield "without a policy."
        return
    if example.checkpoint is not None:
        yield "The same checkpoint under this policy:" if example.checkpoint == shown else "under this policy:"
    yield f"```{tag}\n{example.policy.strip()}\n```"


def _wrapped(part: str) -> str:
    """Return a paragraph with its lines filled; headings and blocks stay as they are."""
    if part.startswith(("```", "#")):
        return part
    return fill(" ".join(part.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
