"""The text of an imported policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from qpolicy.analysis.importing.answers import Answered
from qpolicy.analysis.importing.rules import ListRule, mtp_patterns
from qpolicy.analysis.inference.plan import DRAFT
from qpolicy.analysis.inference.refused import aliases
from qpolicy.checkpoint import Checkpoint
from qpolicy.lang import Source, format_source
from qpolicy.native import Entry
from qpolicy.paths import Pattern, PatternIndex


def write(heading: Iterable[str], rules: Sequence[ListRule], otherwise: str, remarks: Sequence[str]) -> str:
    """Return the policy in its canonical layout.

    Args:
        heading: What it was made from, in lines.
        rules: The rules, in order.
        otherwise: What holds for every other layer.
        remarks: A comment for each rule; empty for none.
    """
    sets = [f"let {rule.set} = {', '.join(rule.patterns)}" for rule in rules if rule.set not in (None, DRAFT)]
    lines = [_line(rule, remark) for rule, remark in zip(rules, remarks, strict=True)]
    blocks = ["qpolicy 1", "\n".join(f"# {line}".rstrip() for line in heading), "\n".join(sets)]
    blocks.append("\n".join([*lines, f"otherwise: {otherwise}"]))
    return format_source(Source("<imported>", "\n\n".join(block for block in blocks if block) + "\n"))


def _line(rule: ListRule, remark: str) -> str:
    selectors = f"@{rule.set}" if rule.set else ", ".join(rule.patterns)
    condition = f" when {rule.condition}" if rule.condition else ""
    return f"{selectors}{condition}: {rule.decision}" + (f"  # {remark}" if remark else "")


def remarks_on(checkpoint: Checkpoint, rules: Sequence[ListRule], answers: Sequence[Answered]) -> tuple[str, ...]:
    """Say of each rule how many modules and how many entries of the list it stands for."""
    index = PatternIndex([[Pattern.parse(text) for text in mtp_patterns(checkpoint, rule)] for rule in rules])
    modules: Counter[int] = Counter()
    entries: dict[int, set[Entry]] = {}
    why: dict[int, str] = {}
    seen: set[str] = set()
    for one in answers:
        for module in one.ask.modules:
            first = min((place for name in aliases(module.name) for place in index.matches(name)), default=None)
            if first is None:
                continue
            modules[first] += module.name not in seen
            seen.add(module.name)
            entries.setdefault(first, set()).update(one.answer.entries)
            if not one.answer.entries:
                why.setdefault(first, one.answer.why)
    return tuple(_remark(rule, modules[at], entries.get(at, set()), why.get(at)) for at, rule in enumerate(rules))


def _remark(rule: ListRule, modules: int, entries: set[Entry], why: str | None) -> str:
    told = [counted(modules, "module")]
    if rule.sources:
        more = f" and {len(rule.sources) - 1} alike" if len(rule.sources) > 1 else ""
        told.append(f"from {rule.sources[0].text!a}{more}")
    elif entries:
        told.append(counted(len(entries), "entry", "entries"))
    if why is not None and not entries:
        told.append(f"not listed: {' '.join(ascii(why)[1:-1].split())[:120]}")
    return ", ".join(told)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 module`` or ``1,234 modules``."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Yield comment lines no longer than a screen is wide."""
    yield from (line if len(line) <= 200 else line[:197] + "..." for line in lines)
