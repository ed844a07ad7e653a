"""The lake that the tests of the Python API ask."""

import pytest
from api.api_worlds import PUTS, WORLD
from waiting_worlds import routed_lake

import clwl_spark as cw


@pytest.fixture(scope="session")
def routed(spark, tmp_path_factory):
    """The world with its puts, routed."""
    return routed_lake(spark, tmp_path_factory.mktemp("api") / "lake", WORLD, PUTS)


@pytest.fixture(scope="session")
def lake(routed):
    return cw.lake(routed.root, settings={"state_partitions": 2})
