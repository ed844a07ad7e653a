"""Which queues share channels and transmission queues, by hand and against puts planned alone."""

import pytest
from separation.conftest import NEAR

from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.separation.separation import SeparationQuestion, separation_of


def lines_of(lake, **question):
    found = separation_of(lake, SeparationQuestion(limit=1_000, **question), Ladder())
    assert found.lines_total == len(found.lines)
    return {(x["qmgr"], x["xmitq"], x["channel"]): x for x in found.lines}


def test_queues_of_one_cluster_share_the_channel_to_their_host(lake):
    found = lines_of(lake)
    to_qm1 = found["APP", NEAR, "TO.QM1"]
    assert to_qm1["names"] == ["BILLS", "NOTES", "ORDERS", "RANKED", "STOCK"]
    assert (to_qm1["queues"], to_qm1["beside"], to_qm1["dest_qmgr"]) == (5, 0, "QM1")
    to_qm2 = found["APP", NEAR, "TO.QM2"]
    assert (to_qm2["names"], to_qm2["queues"], to_qm2["beside"]) == (["ORDERS", "STOCK"], 2, 3)
