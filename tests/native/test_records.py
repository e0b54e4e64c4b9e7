from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from qpolicy.native import exclusion, prepare, records, rules, schemes
from qpolicy.native.records import Clause, Record, _records, class_names, find_record, producer_of
from qpolicy.native.scopes import SCOPES
from qpolicy.native.vocabulary import OPERATORS


def test_every_verb_of_the_data_has_a_meaning_and_every_meaning_is_used() -> None:
    records = set(map(id, _records().values()))
    every = [record for record in {id(one): one for one in _records().values()}.values() if id(record) in records]
    kinds = [kind for record in every for kind in record.kinds.values()]
    steps = [record.steps for record in every] + [kind.list_steps or () for kind in kinds]
    steps += [kind.first.steps for kind in kinds if kind.first is not None]
    assert (
        {step for some in steps for step in some} - {exclusion.OR} == set(exclusion._STEPS) == set(exclusion._TOUCHING)
    )
    assert {step for kind in kinds for step in kind.steps} == set(schemes._STEPS)
    assert {trait for kind in kinds for trait in kind.unsupported} == set(schemes._TRAITS)
    assert {circumstance for kind in kinds for circumstance in kind.bypass} == set(prepare.BYPASSES)
    assert {rewrite for record in every for rewrite in record.rewrite + record.rewrite_mapped} == set(prepare._REWRITES)
    assert {name for record in every for name in record.refuses} == set(prepare._REFUSALS)
    clauses = [clause for record in every for clause in _clauses(record)]
    assert {one for clause in clauses for one in clause.operators} == set(OPERATORS)
    assert {clause.options["scope"] for clause in clauses if "scope" in clause.options} == set(SCOPES)
    tiers = [tier for record in every for tier in record.tiers]
    assert {word for tier in tiers for word in tier.respell} == set(rules._RESPELLINGS)
    assert {word for record in every for word in record.rule_aliases} == set(rules._ALIASES)


def test_every_verb_and_every_key_is_explained() -> None:
    text = (Path(records.__file__).parent / "readings" / "README.md").read_text(encoding="utf-8")
    verbs = {*exclusion._STEPS, *schemes._STEPS, *OPERATORS, *prepare._REWRITES, *rules._RESPELLINGS, *rules._ALIASES}
    keys = {one.name for one in fields(Record)} - {"dialect", "engine", "version"}
    assert not [word for word in sorted(verbs | keys) if f"`{word}`" not in text]
    assert not [scope for scope in SCOPES if f"`{scope}`" not in text]


def _clauses(record: Record) -> list[Clause]:
    lists = (record.clauses, record.target_clauses, record.pattern_clauses, record.included_clauses)
    return [clause for some in (*lists, *(tier.clauses for tier in record.tiers)) for clause in some]


def test_every_record_cites_its_source_and_every_producer_has_one() -> None:
    for record in _records().values():
        assert record.version
        assert all(".py" in source for source in record.source)
    for dialect in ("compressed-tensors", "quark", "fp8"):
        assert find_record(dialect, producer_of(dialect) or "") is not None
        assert find_record(dialect, "sglang") is not None
    assert producer_of("unknown:vptq") is None


def test_the_newest_version_answers_to_the_bare_name() -> None:
    newest, older = find_record("fp8", "transformers"), find_record("fp8", "transformers 5.19.0")
    assert newest is not None
    assert older is not None
    assert (newest.version, older.version) == ("5.24.0", "5.19.0")


def test_each_layer_has_a_class() -> None:
    assert class_names("sglang", "linear", "qkv_proj") == ("QKVParallelLinear",)
    assert class_names("sglang", "linear", "anything") == ("ReplicatedLinear",)
    assert class_names("torch", "embedding", "embed_tokens")[0] == "Embedding"
    assert class_names("nowhere", "linear", "q_proj") == ()
