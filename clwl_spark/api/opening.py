"""How a lake is opened."""

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from clwl_spark.api.open_lake import OpenLake
from clwl_spark.api.rules import Rules
from clwl_spark.api.sessions import opened
from clwl_spark.cli.options import Common


def lake(
    place: str | Path = "",
    *,
    catalog: str = "",
    spark: SparkSession | None = None,
    config: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
) -> OpenLake:
    """Open a lake.

    >>> lake = cw.lake("build/demo-lake")
    >>> lake = cw.lake(catalog="messaging.cluster", spark=spark)
    >>> lake = cw.lake("small-lake", settings={"state_partitions": 2})

    Args:
        place: folder, or a URI that Spark can write, with a Delta table per folder.
        catalog: `catalog.schema` that has the tables instead.
        spark: the session; by default the one that is running, else a local one is started, which
            ends with `close`, or with the block of `with`.
        config: a TOML file with settings, as for `clwl --config`.
        settings: some of them by name, as `clwl --set` has them; they win.

    Raises:
        UsageError: nobody says where the lake is, or two places are named.
        SettingsError: the file or a setting cannot be used.
        MissingLakeError: the folder is not there; where a session runs, questions tell that.
        SetupError: Java or the Delta JARs are missing.
    """
    common = Common(
        lake=str(place) or None,
        catalog=catalog or None,
        config=Path(config) if config is not None else None,
        assignments=[f"{name}={value}" for name, value in (settings or {}).items()],
        quiet=True,
    )
    tables, found, ending = opened(common, spark)
    return OpenLake(tables, found, ending, Rules(tables, found))
