"""What a session of serverless compute may be asked for, as `recorder.py` writes it down, and why.

Databricks documents what its serverless compute refuses: all of RDDs and Java, `cache`, `persist`
and `checkpoint`, settings but six, JARs, global views, Hive's functions and functions that tell a
row's file, streams that do not end. What is not named here, nobody may ask for.
"""

import re
from typing import Final

ALLOWED: Final = {
    "the protocol's own calls": (
        r"call (AddArtifacts|AnalyzePlan|ArtifactStatus|Config|ExecutePlan|FetchErrorDetails"
        r"|Interrupt|ReattachExecute|ReleaseExecute|ReleaseSession)"
    ),
    "the client forgets its models when Python ends, though it has none": "command ml_command",
    "the client asks how rows are sent, for whatever it does": (
        r"get spark\.(connect\.session\.planCompression\.\w+"
        r"|python\.sql\.dataFrameDebugging\.enabled|sql\.connect\.serverStacktrace\.enabled|sql\.execution\.(arrow|pandas|pyspark)\.[\w.]+"
        r"|sql\.pyspark\.[\w.]+|sql\.session\.localRelation\w+|sql\.timestampType)"
    ),
    "settings that serverless compute lets a session have": (
        r"(get|set|unset) spark\.(databricks\.execution\.timeout|sql\.ansi\.enabled"
        r"|sql\.files\.maxPartitionBytes|sql\.legacy\.timeParserPolicy|sql\.session\.timeZone"
        r"|sql\.shuffle\.partitions)"
    ),
    "types and plans are looked at": "analyze (ddl_parse|explain|json_to_ddl|schema|spark_version)",
    "rows of this process are sent, as the protocol does it; no JARs, no files of Python": (
        "artifact cache"
    ),
    "frames that are read, worked on and written": (
        r"relation (aggregate|apply_in_pandas_with_state|cached_local_relation|catalog"
        r"|chunked_cached_local_relation|co_group_map|deduplicate|drop|drop_na|fill_na|filter"
        r"|group_map|hint|join|limit|local_relation|map_partitions|offset|project|range|read"
        r"|repartition|repartition_by_expression|set_op|sort|sql|subquery_alias|tail|to_df"
        r"|to_schema|unpivot|with_columns|with_columns_renamed|with_relations)"
    ),
    "the batch of a stream, in the process of its function": (
        "relation cached_remote_relation|process of a stream"
    ),
    "tables are written, queries in SQL are answered": (
        r"command (remove_cached_remote_relation_command|sql_command|write_operation(_v2)?)"
    ),
    "views of the session's own": "command create_dataframe_view|view own",
    "the catalog tells what is there, and forgets the session's own views": (
        "catalog (current_catalog|current_database|database_exists|drop_temp_view"
        "|set_current_catalog|set_current_database)"
    ),
    "functions in Python": "function of python_udf",
    "functions of SQL": ("sql function (?!input_file|java_method|reflect|try_reflect)[^.]+"),
    "statements about tables of Delta": (
        "sql ((ALTER|CREATE|DESCRIBE|SHOW|DROP) (TABLE|SCHEMA|DETAIL|HISTORY|TBLPROPERTIES|VIEW)"
        r"|CREATE OR|DELETE FROM|MERGE INTO|SELECT.*|UPDATE .*|USE .*|WITH .*)"
    ),
    "a stream that takes what is there, and ends": (
        "command (write_stream_operation_start|streaming_query_command)|trigger available_now"
        "|query (await_termination|exception|last_progress|recent_progress|status)"
    ),
}


def refused(kind: str) -> bool:
    """Whether serverless compute refuses what was asked for."""
    return not any(re.fullmatch(f"(?:{x})", kind) for x in ALLOWED.values())
