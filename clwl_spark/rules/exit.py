"""The cluster workload exit: a configured function takes rows away after rule 2.

Source: SEMANTICS 4, row "exit"; P26.
"""

from importlib import import_module

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import ExitFunctionError
from clwl_spark.rules.marking import CHOICE_KEY, EXIT, Rule, eliminate, in_play

_ROW = (
    *CHOICE_KEY,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.CHANNEL,
    c.IS_ALIAS,
    c.INSTANCE_CLUSTER,
    c.CHANNEL_CLUSTER,
)
_KEPT = "kept_by_exit"


def keep_what_exit_keeps(exit_function: Rule) -> Rule:
    """Make a rule of the exit, which gets the rows in play and returns those it keeps."""

    def rule(candidates: DataFrame) -> DataFrame:
        kept: object = exit_function(candidates.where(in_play()))
        if not isinstance(kept, DataFrame) or not set(_ROW) <= set(kept.columns):
            raise ExitFunctionError(
                f"the exit must return a DataFrame with the columns {list(_ROW)}: "
                "return the rows it got, less those it takes away"
            )
        marked = kept.select(*_ROW).distinct().withColumn(_KEPT, F.lit(True))
        joined = candidates.join(marked, on=list(_ROW), how="left")
        return eliminate(joined, F.col(_KEPT).isNull(), EXIT).drop(_KEPT)

    return rule


def load_exit(reference: str) -> Rule | None:
    """Import the exit that `module:function` names; blank means none.

    Raises:
        ExitFunctionError: there is no such module or function.
    """
    if not reference:
        return None
    module_name, _, function_name = reference.partition(":")
    try:
        function = getattr(import_module(module_name), function_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ExitFunctionError(
            f"exit '{reference}' cannot be imported ({error}): write module:function, "
            "a function DataFrame -> DataFrame on the Python path"
        ) from error
    if not callable(function):
        raise ExitFunctionError(f"exit '{reference}' is not a function: name one")
    return function  # type: ignore[no-any-return]
