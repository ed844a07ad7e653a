"""The reference on random cases: what must hold for every message, and what the cases cover."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from random_clusters import Case, random_case
from reference import Reference

CASES = 500
KINDS = ("QUEUE", "QMGR", "TOPIC", "LOCAL", "XMITQ")
REASONS = (0, 2001, 2051, 2082, 2085, 2087, 2184, 2189, 2268, 2270)
# Rule 11 keeps the last tier, so nothing is ever below it: `eliminated_by` 11 cannot occur.
RULES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14}
ERRORS = (
    "NO_SNAPSHOT",
    "NO_QMGR",
    "NO_OBJECT",
    "NO_PUT_TIME",
    "NO_PUT_SEQ",
    "UNKNOWN_BIND",
    "UNKNOWN_VIA",
    "UNKNOWN_OBJECT_TYPE",
)


def case_of(seed: int) -> Case:
    """The case of a seed; the tests of the package use the same ones."""
    return random_case(random.Random(seed), f"C{seed:03d}.")


def run(seed: int, algorithm: str = "v9") -> tuple[Case, Reference, list[dict[str, Any]]]:
    """Route a case's batches."""
    case = case_of(seed)
    reference = Reference(case.tables, algorithm)
    outcomes = [outcome for batch in case.batches for outcome in reference.route(batch)]
    return case, reference, outcomes


def plans(reference: Reference) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every plan that was made, and its candidates."""
    for request in list(reference._plans):
        plan = reference.plan(*request)
        yield plan, plan["candidates"]


def check_outcome(outcome: dict[str, Any]) -> None:
    """What holds for every outcome by itself."""
    place = ("dest_qmgr", "dest_object", "channel", "cluster", "xmitq")
    if outcome["reason"] != 0:
        assert {outcome[name] for name in place} == {None}
        assert not outcome["is_local"]
        assert not outcome["bound"]
    elif outcome["is_local"]:
        assert {outcome[name] for name in place[2:]} == {None}
        assert outcome["dest_qmgr"] == outcome["qmgr"]
    else:
        assert outcome["xmitq"]
        assert (outcome["channel"] is None) == (outcome["cluster"] is None)


def check_chosen(outcome: dict[str, Any], message: dict[str, Any], reference: Reference) -> None:
    """An outcome that was not bound is one of its plan's routes."""
    request = (outcome["snapshot_id"], outcome["qmgr"], outcome["object_type"])
    request += (outcome["object_name"], outcome["object_qmgr"], message["via"] or "LOCAL")
    plan = reference.plan(*request)
    if outcome["channel"] is not None and not outcome["bound"]:
        names = ("dest_qmgr", "dest_object", "channel")
        routes = [tuple(row[name] for name in names) for row in plan["routes"]]
        assert tuple(outcome[name] for name in names) in routes
    kept = [row for row in plan["candidates"] if row["eliminated_by"] is None]
    assert sorted(kept, key=str) == sorted(
        ({k: v for k, v in row.items() if k != "cluster"} for row in plan["routes"]), key=str
    )


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a message of one case unique: equal put_seq have message ids of their own."""
    return row["qmgr"], row["put_seq"], row["message_id"]


def check_case(seed: int, algorithm: str) -> None:
    """Each message has one outcome or one rejection; publications may have several copies."""
    case, reference, outcomes = run(seed, algorithm)
    messages = {key_of(message): message for message in case.messages}
    found = [*map(key_of, outcomes), *map(key_of, reference.rejected)]
    assert set(found) == set(messages)
    published = {key_of(row) for row in outcomes if row["object_type"] == "TOPIC"}
    once = Counter(key for key in found if key not in published)
    assert once == Counter(k for k in map(key_of, case.messages) if k not in published)
    for outcome in outcomes:
        check_outcome(outcome)
        check_chosen(outcome, messages[key_of(outcome)], reference)


@pytest.mark.parametrize("algorithm", ["v9", "v7"])
@pytest.mark.parametrize("first", range(0, 300, 50))
def test_every_message_is_accounted_for(first, algorithm):
    for seed in range(first, first + 50):
        try:
            check_case(seed, algorithm)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("seed", range(0, 300, 15))
def test_other_batches_in_the_same_order_change_nothing(seed):
    case = case_of(seed)
    in_order = sorted(
        (m for m in case.messages if m["qmgr"] and m["put_seq"] is not None),
        key=lambda m: (m["qmgr"], m["put_seq"], m["message_id"] or b""),
    )
    at_once, in_pieces = Reference(case.tables), Reference(case.tables)
    expected = at_once.route(in_order)
    found = [o for n in range(0, len(in_order), 5) for o in in_pieces.route(in_order[n : n + 5])]
    assert found == expected
    assert in_pieces.balance_history() == at_once.balance_history()


@pytest.mark.parametrize("seed", range(0, 300, 15))
def test_the_order_of_rows_in_tables_changes_nothing(seed):
    case, _, expected = run(seed)
    rng = random.Random(seed)
    shuffled = {table: rng.sample(rows, len(rows)) for table, rows in case.tables.items()}
    reference = Reference(shuffled)
    assert [o for batch in case.batches for o in reference.route(batch)] == expected


def test_the_cases_cover_every_rule_reason_kind_and_error():
    seen: Counter[Any] = Counter()
    for seed in range(CASES):
        case, reference, outcomes = run(seed)
        assert 10 <= len(case.messages) <= 90
        for outcome in outcomes:
            seen["reason", outcome["reason"]] += 1
            seen["bound"] += outcome["bound"]
            seen["out of order"] += outcome["out_of_order"]
            seen["local among remote"] += outcome["is_local"] and outcome["bound"]
        for plan, candidates in plans(reference):
            seen["kind", plan["kind"]] += 1
            for row in candidates:
                seen["rule", row["eliminated_by"]] += 1
        for message in reference.rejected:
            seen["error", message["error"]] += 1
        seen["MRUC"] += reference.choices_cut
        seen["resets"] += reference.resets
    wanted = [("kind", kind) for kind in KINDS]
    wanted += [("reason", reason) for reason in REASONS]
    wanted += [("rule", rule) for rule in RULES]
    wanted += [("error", error) for error in ERRORS]
    wanted += ["bound", "out of order", "local among remote", "MRUC", "resets"]
    assert {name for name in wanted if seen[name] < 5} == set()
    assert {key[1] for key in seen if key[0] == "rule"} == {None, *RULES}


def test_unique_put_seq_leaves_one_message_of_each():
    for seed in range(20):
        case = random_case(random.Random(seed), "U.", unique_put_seq=True)
        keys = [(m["qmgr"], m["put_seq"]) for m in case.messages]
        assert len(keys) == len(set(keys))
