"""Hypothesis strategies for valid policies, as text. They are laid out in many ways but always parse."""

from __future__ import annotations

from hypothesis import strategies as st

SETS = ("routers", "vision", "late-layers", "_x", '"drop"')

segments = st.sampled_from(
    [
        *("model", "layers", "mlp", "gate", "in_proj", "not_a", "has", "path", "draft", "0"),
        *("?", "*", "**", "shared_expert*", "{q,k,v}_proj", "{0..2,60}", "indexer{,s}", "{61..}"),
        *('"odd name"', '"when"', '"a#b"'),
    ]
)
patterns = st.lists(segments, min_size=2, max_size=5).map(".".join) | st.sampled_from(
    ["lm_head", '"mtp"', '"not"', "**"]
)
tensors = st.sampled_from(["weight", "weight_packed", "weight_scale_inv", '"odd"'])
gaps = st.sampled_from([" "] * 8 + ["  ", "\t"])
breaks = st.sampled_from([" "] * 8 + ["", "  ", "\n", "\n\n  # a comment\n    ", "  # beside\n", "\r\n"])
trivia = st.sampled_from([""] * 6 + ["\n", "\n\n\n", "# a comment\n", "  # indented\n\n", "#\n"])
ends = st.sampled_from(["\n"] * 6 + ["  \n", "\r\n", " # why: because\n"])


def set_references(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """``@NAME`` or ``@NAME.rest`` of one of these sets, or of the built-in one."""
    known = st.sampled_from(["mtp", *names])
    return st.builds("@{}".format, known) | st.builds("@{}.{}".format, known, patterns)


def lists(items: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    """Items with commas between them, on one line or over several."""
    more = st.lists(st.tuples(breaks, items).map(lambda pair: f",{pair[0]}{pair[1]}"), max_size=most - 1)
    return st.builds(lambda first, rest: first + "".join(rest), items, more)


def in_list(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """``(a, b)``."""
    return st.builds("({}{}{})".format, breaks, lists(items), breaks)


def checkpoint_facts(selectors: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Facts that a drop may ask."""
    about = st.sampled_from(["excluded", "quantized_on_disk", "unquantized_on_disk", "exists"])
    fields = st.sampled_from(["method", "format", "arch", "engine"])
    values = st.sampled_from(["fp8", "pack-quantized", "sglang", '"Qwen3 Next, really"', '"drop"'])
    return (
        st.sampled_from(["draft", "target"])
        | st.builds("{}({})".format, about, selectors)
        | st.builds("{}{}=={}{}".format, fields, gaps, gaps, values)
        | st.builds("{}{}in {}".format, fields, gaps, in_list(values))
    )


def module_facts(selectors: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Facts about one module."""
    return (
        st.sampled_from(["excluded", "quantized_on_disk"])
        | st.builds("has{}".format, in_list(tensors))
        | st.builds("dtype({}) == {}".format, tensors, st.sampled_from(["bf16", "f8_e4m3"]))
        | st.builds("dtype({}) in {}".format, tensors, in_list(st.sampled_from(["bf16", "i32"])))
        | st.sampled_from(["kind == moe", "kind in (linear, lm_head)"])
        | st.builds("path in {}".format, selectors | in_list(selectors))
    )


def conditions(facts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Facts joined by ``and``, ``or``, ``not`` and parentheses."""
    return st.recursive(
        facts,
        lambda inner: (
            st.builds("{} {} {}{}".format, inner, st.sampled_from(["and", "or"]), breaks, inner)
            | st.builds("not {}{}".format, breaks, inner)
            | st.builds("({}{}{})".format, breaks, inner, breaks)
        ),
        max_leaves=5,
    )


decisions = st.sampled_from(
    ["unquantized", "quantized", "native", 'error "why,  and: how # far"', "quantized as group_0", 'quantized as "a b"']
)


@st.composite
def policies(draw: st.DrawFn) -> str:
    """A valid policy, with a version, sets, drops, rules, an ``otherwise`` and expectations."""
    names = tuple(draw(st.lists(st.sampled_from(SETS), unique=True, max_size=3)))
    selectors = patterns | set_references(names)
    rule_conditions = conditions(checkpoint_facts(selectors) | module_facts(selectors))
    drops = st.builds(
        "drop {} if {}".format,
        st.sampled_from(["mtp", "@mtp", *(f"@{name}" for name in names)]),
        conditions(checkpoint_facts(selectors)),
    )
    rules = st.one_of(
        st.builds("{}{}:{}{}".format, lists(selectors), st.sampled_from(["", " "]), gaps, decisions),
        st.builds("{} when {}:{}{}".format, lists(selectors), rule_conditions, gaps, decisions),
        st.builds("when {}: {}".format, rule_conditions, decisions),
    )
    expects = st.builds(
        "expect {}{}: {}".format,
        st.sampled_from(["", "draft ", "target "]),
        patterns | set_references(names),
        st.sampled_from(["unquantized", "quantized", "error"]),
    )
    statements = [
        "qpolicy 1",
        *(f"let {name}{draw(gaps)}={draw(gaps)}{draw(lists(patterns))}" for name in names),
        *draw(st.lists(drops, max_size=2)),
        *draw(st.lists(rules, max_size=4)),
        *draw(st.lists(st.builds("otherwise: {}".format, decisions), max_size=1)),
        *draw(st.lists(expects, max_size=2)),
    ]
    return "".join(draw(trivia) + statement + draw(ends) for statement in statements) + draw(trivia)
