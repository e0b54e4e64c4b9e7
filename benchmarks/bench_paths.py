"""How fast the pattern index answers, beside the usual ways to ask many patterns.

Run ``python benchmarks/bench_paths.py``. Every number of one line comes from the same run on the same names; compare
the ratios, the nanoseconds (of processor time) depend on the machine. The names are the 45,094 modules of a made-up
model with 61 layers and 256 experts in 58 of them; most match no pattern, as in a checkpoint's list of exclusions.

The peers answer "does any pattern match"; the index answers which do. ``fnmatch`` is given the nearest glob that it can
express, ``re`` and RE2 (only if it is installed) an exact translation. The dictionary is the floor: names looked up
that were all asked before.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from random import Random
from time import process_time

from qpolicy.paths import NameTree, PathSet, Pattern, PatternIndex, suggest

COUNTS = (5, 50, 150, 882, 4000)
ATTENTION = ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj")
DENSE = ("gate_proj", "up_proj", "down_proj")
SLOW_PEER_NAMES = 200

Ask = Callable[[str], object]


def module_names() -> list[str]:
    names = ["model.embed_tokens", "model.norm", "lm_head", "mtp.fc"]
    for layer in range(61):
        block = f"model.layers.{layer}"
        names += [f"{block}.self_attn.{name}" for name in ATTENTION]
        if layer < 3:
            names += [f"{block}.mlp.{name}" for name in DENSE]
            continue
        names += [f"{block}.mlp.gate", *(f"{block}.mlp.shared_experts.{name}" for name in DENSE)]
        names += [f"{block}.mlp.experts.{expert}.{name}" for expert in range(256) for name in DENSE]
    return names


def pattern_texts(count: int) -> list[str]:
    texts = ["lm_head", "**.mlp.gate", "mtp.**", "model.visual.**", "**.shared_expert*"]
    modules = [f"self_attn.{name}" for name in ATTENTION] + ["mlp.gate", *(f"mlp.{name}" for name in DENSE)]
    for number in range(count - len(texts)):
        layer, module = number % 61, modules[number // 61 % len(modules)]
        texts.append(
            f"model.layers.{layer}.{module}"
            if number < 549
            else f"{('model', '**', 'mtp')[number % 3]}.{layer}.{module}.x{number}"
        )
    return texts[:count]


def as_regex(text: str) -> str:
    parts = []
    for segment in text.split("."):
        if segment == "**":
            parts.append(r"(?:[^.]+\.)*")
        else:
            parts.append(re.escape(segment).replace(r"\*", "[^.]*") + r"\.")
    return "".join(parts)


def seconds(task: Callable[[], object], tries: int = 3) -> float:
    best = float("inf")
    for _ in range(tries):
        begun = process_time()
        task()
        best = min(best, process_time() - begun)
    return best


def nanoseconds(ask: Ask, names: Sequence[str]) -> float:
    def all_names() -> None:
        for name in names:
            ask(name)

    return seconds(all_names) / len(names) * 1e9


def peers(texts: Sequence[str]) -> dict[str, Ask]:
    """Returns the other ways to ask these patterns."""
    globs = [text.replace("**.", "*").replace(".**", "*") for text in texts]
    # A dot behind the name lets every segment, the last one too, end in one.
    alternation = re.compile("|".join(f"(?:{as_regex(text)})" for text in texts))
    found: dict[str, Ask] = {
        "fnmatch loop": lambda name: any(fnmatchcase(name, glob) for glob in globs),
        "re alternation": lambda name: alternation.fullmatch(f"{name}."),
    }
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return found
    together = re2.Set.FullMatchSet()
    for text in texts:
        together.Add(as_regex(text))
    together.Compile()
    return found | {"RE2 set": lambda name: together.Match(f"{name}.")}


def queries(names: Sequence[str]) -> None:
    few = Random(0).sample(names, SLOW_PEER_NAMES)
    shuffled = Random(1).sample(names, len(names))
    first = 0.0
    for count in COUNTS:
        texts = pattern_texts(count)
        index = PatternIndex([[Pattern.parse(text)] for text in texts])
        table = {name: index.matches(name) for name in names}
        warm = nanoseconds(index.matches, names)
        first = first or warm
        print(f"{count:5} patterns: index {warm:5.0f} ns, {warm / first:4.2f}x of {COUNTS[0]} patterns", end="")
        print(f", shuffled names {nanoseconds(index.matches, shuffled) / warm:4.2f}x", end="")
        print(f", dict {nanoseconds(table.__getitem__, names) / warm:4.2f}x", end="")
        few_warm = nanoseconds(index.matches, few)
        for peer, ask in peers(texts).items():
            print(f", {peer} {nanoseconds(ask, few) / few_warm:,.1f}x", end="")
        print()


def building(names: Sequence[str]) -> None:
    for count in (882, 4000):
        texts = pattern_texts(count)
        patterns = [[Pattern.parse(text)] for text in texts]
        index = PatternIndex(patterns)
        begun = process_time()
        for name in names:
            index.matches(name)
        cold = process_time() - begun
        parse = seconds(lambda texts=texts: [Pattern.parse(text) for text in texts])  # type: ignore[misc]
        build = seconds(lambda patterns=patterns: PatternIndex(patterns))  # type: ignore[misc]
        print(f"{count:5} patterns: parse {parse * 1e3:.0f} ms, build {build * 1e3:.1f} ms", end="")
        print(f", {len(names):,} names cold {cold * 1e3:.0f} ms, {index.states} states, {index.computed} transitions")


def questions(names: Sequence[str]) -> None:
    patterns = [Pattern.parse(text) for text in pattern_texts(882)]
    listed, routers = PathSet.of(*patterns), PathSet.of(Pattern.parse("**.mlp.gate"))
    print(f"  is one pattern covered by 882: {seconds(lambda: routers <= listed) * 1e3:.1f} ms")
    print(f"  shortest name in 882 and not in one: {seconds((listed - routers).witness) * 1e3:.1f} ms")
    print(f"  names as a tree: {seconds(lambda: NameTree(names)) * 1e3:.0f} ms", end="")
    tree = NameTree(names)
    print(f", one suggestion: {seconds(lambda: suggest(Pattern.parse('**.mlp.gates'), tree)) * 1e3:.1f} ms")


def main() -> None:
    names = module_names()
    print(f"A query, {len(names):,} names; a peer's number is its time as a multiple of the index's:")
    queries(names)
    print("Building:")
    building(names)
    print("Questions about sets and names:")
    questions(names)


if __name__ == "__main__":
    main()
