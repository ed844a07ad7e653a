"""What a group may be, and what is said about one that may not."""

import pytest

from clwl_spark.studies.shared_queue.group import SharingGroupError, make_group, read_entries

TOLD = {
    "queue_managers": [{"name": "A", "getters": 1}],
    "putters": [{"queue_manager": "A", "rate": 1.0}],
}


def refused(**changes):
    with pytest.raises(SharingGroupError) as caught:
        make_group(TOLD | changes, "group.toml")
    said = str(caught.value)
    assert said.startswith("group.toml: ")
    assert "\n" not in said
    assert caught.value.exit_code == 2
    return said


def test_defaults_are_filled_in():
    group = make_group(TOLD, "t")
    assert (group.name, group.runs, group.messages, group.seed) == ("QSG1", 1000, 1000, 1)
    assert group.putters[0].direct_share == 1
    assert group.queue_managers[0].slower == 1


def test_persistent_or_in_syncpoint_is_what_cannot_go_directly():
    putter = {"queue_manager": "A", "rate": 1.0, "persistent": 0.5, "syncpoint": 0.5}
    assert make_group(TOLD | {"putters": [putter]}, "t").putters[0].direct_share == 0.25


def test_a_group_without_getters_is_refused():
    said = refused(queue_managers=[{"name": "A"}, {"name": "B", "getters": 0}])
    assert said.endswith("nobody gets from SHARED.QUEUE: give at least one queue manager of QSG1 a "
                         "getter")  # fmt: skip


def test_names_have_to_fit():
    twice = [{"name": "A", "getters": 1}, {"name": "A"}]
    assert "queue manager A is there twice" in refused(queue_managers=twice)
    said = refused(putters=[{"queue_manager": "X", "rate": 1.0}])
    assert "putter on X: no queue manager of QSG1 (A)" in said


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"runs": 9}, "runs"),
        ({"messages": 0}, "messages"),
        ({"confidence": 1.0}, "confidence"),
        ({"colour": "red"}, "colour"),
        ({"putters": []}, "putters"),
        ({"putters": [{"queue_manager": "A", "rate": 0}]}, "putters.0.rate"),
        ({"putters": [{"queue_manager": "A", "rate": 1, "persistent": 2}]}, "persistent"),
        ({"queue_managers": [{"name": "A", "getters": 1, "busy": 1.0}]}, "queue_managers.0.busy"),
        ({"queue_managers": [{"name": "A", "getters": -1}]}, "queue_managers.0.getters"),
        ({"queue_managers": [{"name": f"Q{n}", "getters": 1} for n in range(33)]}, "queue_man"),
        ({"queue_managers": 3}, "queue_managers"),
        ({"notification_ms": float("nan")}, "notification_ms"),
        ({"putters": [{"queue_manager": "A", "rate": float("inf")}]}, "putters.0.rate"),
    ],
)
def test_values_have_to_be_possible(changes, place):
    assert place in refused(**changes)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SharingGroupError, match="No such file"):
        read_entries(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("runs = ")
    with pytest.raises(SharingGroupError, match=r"broken\.toml is not TOML: "):
        read_entries(broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(SharingGroupError, match="not TOML"):
        read_entries(broken)
