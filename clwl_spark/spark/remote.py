"""A Spark Connect server that somebody else has started."""

from typing import Final

import grpc  # type: ignore[import-untyped]
from pyspark.sql.connect.client import DefaultChannelBuilder

from clwl_spark.errors import SetupError

_SECONDS: Final = 20


def refuse_silent_server(address: str) -> None:
    """Refuse a server that does not answer; PySpark would ask it for a quarter of an hour.

    Args:
        address: as SPARK_REMOTE has it; one that is no `sc://` starts its server itself.

    Raises:
        SetupError: nobody answers.
    """
    if not address.startswith("sc://"):
        return
    builder = DefaultChannelBuilder(address)
    try:
        with builder.toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=_SECONDS)
    except grpc.FutureTimeoutError:
        raise SetupError(
            f"no Spark Connect server answers at {builder.endpoint}: start it there, or unset "
            "SPARK_REMOTE"
        ) from None
