"""Random policies over few segments and few facts, so that their parts meet often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

WORLDS: tuple[tuple[str, ...], ...] = (
    ("a", "b"),
    ("a", "b", "ab"),
    ("a", "q_proj", "k_proj", "qkv_proj"),
    ("a", "experts", "0", "up_proj"),
    ("a", "mtp", "lm_head"),
    ("model", "layers", "0", "7"),
)
"""The segments that the names of one policy are made of; ``z`` is added, which no pattern spells."""

WILD = ("?", "*", "**", "**", "a*", "*b", "{a,b}", "{0..}", "{1..7}", "*_proj")
ALSO = {"{1..7}": "5", "{0..}": "0", "a*": "ac", "*b": "cb", "*_proj": "v_proj", "{a,b}": "b"}
"""For elements that take segments which are not spelled in every world, one that they take."""

FACTS = (
    ("draft", "target", "has(w)", "has(v)", "has(w, v)", "dtype(w) == bf16"),
    ("has(w)", "quantized_on_disk", "dtype(w) == bf16", "dtype(w) in (bf16, f16)", "dtype(w) == f16"),
    ("kind == moe", "kind in (linear, moe)", "kind in (linear, lm_head, embedding)", "excluded", "draft"),
    ("method == x", "method in (x, y)", "format == x", "arch == x", "arch in (x, y)", "arch == y"),
    ("exists(p.q)", "excluded(p.q)", "quantized_on_disk(p.q)", "unquantized_on_disk(p.q)", "excluded"),
    ("engine == sglang", "engine in (sglang, other)", "draft", "quantized_on_disk", "excluded(p.q)"),
)
WHOLE = ("draft", "target", "engine == sglang", "method == x", "exists(p.q)", "excluded(p.q)", "arch == x")
DECISIONS = ("unquantized", "quantized", "native", "quantized as x")


@dataclass(frozen=True)
class Drawn:
    """A policy and the segments that its names are made of."""

    text: str
    segments: tuple[str, ...]


def draw(seed: int) -> Drawn:
    """Return a policy; the same for the same seed."""
    return _Drawing(Random(seed)).policy()


def draw_from(random: Random, segments: tuple[str, ...], facts: Sequence[str]) -> Drawn:
    """Return a policy over these segments and facts."""
    return _Drawing(random, segments, facts).policy()


def draw_pair(seed: int) -> tuple[Drawn, Drawn]:
    """Return two policies about the same things, often much alike."""
    drawing = _Drawing(Random(seed))
    first = drawing.policy()
    lines = first.text.splitlines()
    match drawing.random.randrange(4):
        case 0:
            return first, drawing.policy()
        case 1:
            at = drawing.random.randrange(1, len(lines))
            lines[at : at + 1] = [] if lines[at].startswith(("let", "drop")) is False else [lines[at]]
        case 2:
            rules = [
                place for place, line in enumerate(lines) if not line.startswith(("qpolicy", "let", "drop", "oth"))
            ]
            if len(rules) > 1:
                one, other = drawing.random.sample(rules, 2)
                lines[one], lines[other] = lines[other], lines[one]
        case 3:
            otherwise = [line for line in lines if line.startswith("otherwise")]
            body = [line for line in lines if not line.startswith("otherwise")]
            lines = [*body, drawing.rule(), *otherwise]
    return first, Drawn("\n".join(lines) + "\n", first.segments)


class _Drawing:
    def __init__(self, random: Random, segments: Sequence[str] = (), facts: Sequence[str] = ()) -> None:
        self.random = random
        self.segments = segments or random.choice(WORLDS)
        self.facts = facts or random.sample(random.choice(FACTS), k=random.choice((1, 2, 3, 3)))

    def policy(self) -> Drawn:
        lines = ["qpolicy 1", f"let s = {self._list(self._pattern)}"]
        lines += [self._drop() for _ in range(self.random.choice((0, 0, 0, 1, 2)))]
        lines += [self.rule() for _ in range(self.random.randrange(1, 6))]
        lines += [f"otherwise: {self._decision()}"] if self.random.random() < 0.4 else []
        text = "\n".join(lines) + "\n"
        also = (segment for element, segment in ALSO.items() if element in text)
        return Drawn(text, tuple(dict.fromkeys((*self.segments, "z", *also))))

    def rule(self) -> str:
        selectors = self._list(self._selector)
        match self.random.randrange(6):
            case 0 | 1:
                return f"{selectors}: {self._decision()}"
            case 2:
                return f"when {self._condition(3)}: {self._decision()}"
        return f"{selectors} when {self._condition(3)}: {self._decision()}"

    def _drop(self) -> str:
        whole = [fact for fact in self.facts if fact in WHOLE] or [self.random.choice(("draft", "target"))]
        return f"drop {self.random.choice(('mtp', '@s'))} if {self._joined(whole, 2)}"

    def _condition(self, depth: int) -> str:
        facts = [*self.facts, *self.facts, *self.facts, f"path in {self._selector()}"]
        return self._joined(facts, depth)

    def _joined(self, facts: Sequence[str], depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice(facts)
        match self.random.randrange(3):
            case 0:
                return f"not ({self._joined(facts, depth - 1)})"
            case 1:
                return f"({self._joined(facts, depth - 1)} and {self._joined(facts, depth - 1)})"
        return f"({self._joined(facts, depth - 1)} or {self._joined(facts, depth - 1)})"

    def _selector(self) -> str:
        return self.random.choice((*[self._pattern()] * 8, "@s", "@mtp" if "mtp" in self.segments else "@s"))

    def _pattern(self) -> str:
        length = self.random.choice((1, 2, 2, 3, 3))
        one = [self.random.choice((*self.segments, *self.segments, *WILD)) for _ in range(length)]
        return '"mtp"' if one == ["mtp"] else ".".join(one)

    def _list(self, item: Callable[[], str]) -> str:
        return ", ".join(item() for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def _decision(self) -> str:
        return self.random.choice(DECISIONS)
