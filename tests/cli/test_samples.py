from collections import Counter, defaultdict
from itertools import pairwise

from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.tables import MESSAGES

ROWS = [
    dict(zip(MESSAGES.names, row, strict=True))
    for row in sample_messages(samples_folder() / "messages.csv")
]


def test_each_queue_manager_numbers_its_messages_by_time():
    by_qmgr = defaultdict(list)
    for row in ROWS:
        by_qmgr[row["qmgr"]].append(row)
    for rows in by_qmgr.values():
        assert [row["put_seq"] for row in rows] == list(range(1, len(rows) + 1))
        assert all(one["put_time"] <= other["put_time"] for one, other in pairwise(rows))


def test_messages_have_identifiers_of_their_own():
    assert len({row["message_id"] for row in ROWS}) == len(ROWS) > 4_000
    assert {len(row["message_id"]) for row in ROWS} == {24}


def test_an_open_puts_to_one_object_and_a_group_has_the_size_that_the_list_says():
    opens = defaultdict(set)
    for row in ROWS:
        if row["open_id"] is not None:
            opens[row["open_id"]].add((row["qmgr"], row["object_name"]))
    assert {len(objects) for objects in opens.values()} == {1}
    groups = Counter(row["group_id"] for row in ROWS if row["group_id"])
    assert set(groups.values()) == {5}


def test_the_same_list_gives_the_same_messages():
    again = sample_messages(samples_folder() / "messages.csv")
    assert [row["message_id"] for row in ROWS] == [row[2] for row in again]
