"""A Hive metastore of a folder: its tables stay, as a platform's do, when a session has ended."""

from pathlib import Path


def hive_settings(folder: Path) -> Path:
    """A file of settings for `--config`: Spark with the metastore that comes with it, in Derby."""
    found = folder / "hive.toml"
    url = f"jdbc:derby:;databaseName={folder / 'metastore'};create=true"
    found.write_text(
        f'checkpoints = "{folder / "checkpoints"}"\n\n[spark]\nmaster = "local[2]"\n'
        f'"sql.catalogImplementation" = "hive"\n"sql.warehouse.dir" = "{folder / "warehouse"}"\n'
        f'"hadoop.javax.jdo.option.ConnectionURL" = "{url}"\n'
    )
    return found
