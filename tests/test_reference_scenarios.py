"""The scenarios' expected numbers, checked with the reference."""

from collections import Counter

import pytest
from reference import Reference
from scenario_files import FOLDER, counted, read_scenario, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_the_reference_sends_a_scenarios_messages_where_they_are_expected(name):
    scenario = read_scenario(name)
    reference = Reference(scenario.tables, edition=2)
    outcomes = reference.route(scenario.messages)
    assert reference.rejected == []
    assert counted(outcomes) == scenario.expected


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_tells_what_it_is_about(name):
    lines = (FOLDER / name / "scenario.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert 1 < sum(map(bool, lines)) < 12


def test_every_message_of_a_scenario_has_its_own_put_seq():
    for name in scenario_names():
        messages = read_scenario(name).messages
        assert Counter(m["put_seq"] for m in messages).most_common(1)[0][1] == 1
