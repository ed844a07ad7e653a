"""Generic profiles: which apply to a name, and which of them decides."""

import pytest

from clwl_spark.algorithm.authority import deciding, fits
from clwl_spark.planning.put_authority import TRANSMIT_QUEUE, Put, put_authority


@pytest.mark.parametrize(
    ("profile", "name", "applies"),
    [
        ("APP.Q", "APP.Q", True),
        ("APP.Q", "app.q", False),
        ("AB.?D", "AB.CD", True),
        ("AB.?D", "AB.D", False),
        ("ABC.*.JKL", "ABC.DEF.JKL", True),
        ("ABC.*.JKL", "ABC.JKL", False),
        ("ABC.*.JKL", "ABC.D.E.JKL", False),
        ("ABC.DE*.JKL", "ABC.DE.JKL", True),
        ("ABC.DE*.JKL", "ABC.DEGH.JKL", True),
        ("ABC.*", "ABC.D", True),
        ("ABC.*", "ABC.D.E", False),
        ("ABC.**", "ABC.D.E", True),
        ("ABC.**", "ABC", True),
        ("**.ABC", "ABC", True),
        ("**.ABC", "D.E.ABC", True),
        ("A.**.Z", "A.Z", True),
        ("A.**.Z", "A.B.C.Z", True),
        ("A.**.Z", "A.B.C", False),
        ("**", "ANY.NAME.AT.ALL", True),
        ("*", "ANY", True),
        ("*", "ANY.NAME", False),
        ("A.[B]", "A.B", False),
        ("@class", "APP.Q", False),
    ],
)
def test_a_profile_applies_as_its_wildcards_say(profile, name, applies):
    assert fits(profile, name) is applies


@pytest.mark.parametrize(
    ("profiles", "name", "decides"),
    [
        (["AB.*", "AB.C*"], "AB.CD", "AB.C*"),
        (["AB.?D", "AB.*D", "AB.**"], "AB.CD", "AB.?D"),
        (["AB.**", "AB.*"], "AB.CD", "AB.*"),
        (["**", "A*.CD"], "AB.CD", "A*.CD"),
        (["AB.*", "AB.CD"], "AB.CD", "AB.CD"),
        (["AB*", "AB*C"], "ABCC", "AB*C"),
        (["X.**"], "AB.CD", None),
    ],
)
def test_the_most_specific_profile_decides_whatever_the_order(profiles, name, decides):
    assert deciding(profiles, name) == deciding(profiles[::-1], name) == decides


def test_a_more_specific_record_that_gives_nothing_decides_all_the_same():
    about = {"qmgr": "QM1", "objtype": "QUEUE", "entity_type": "GROUP"}
    rows = [
        {**about, "entity": "app", "profile": "**", "authorities": "GET,PUT"},
        {**about, "entity": "app", "profile": "SYSTEM.CLUSTER.**", "authorities": ""},
        {**about, "entity": "ops", "profile": "**", "authorities": "GET,PUT"},
        {**about, "entity": "net", "profile": "OTHER", "authorities": "PUT"},
        {**about, "entity": "adm", "profile": "**", "authorities": "PUT", "objtype": "TOPIC"},
    ]
    assert put_authority(rows, TRANSMIT_QUEUE) == [
        Put("QM1", "GROUP", "app", "SYSTEM.CLUSTER.**", False),
        Put("QM1", "GROUP", "ops", "**", True),
    ]
