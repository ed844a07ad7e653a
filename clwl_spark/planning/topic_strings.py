"""Topic strings: which are above others, and which wildcards match.

Source: SEMANTICS 9, P17, P19.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import WildcardSchema
from clwl_spark.tables import columns as c

PATTERN: Final = "pattern"
_CHARACTERS: Final = {"*": ".*", "?": "."}
"""Wildcards of WSCHEMA(CHAR) as regular expressions."""


def topic_matches(pattern: str, wschema: str, topic: str) -> bool:
    """Whether a subscription's topic string matches.

    Args:
        pattern: the subscription's string.
        wschema: CHAR: `*` is any run of characters and `?` one, a `/` like any other. TOPIC: `+`
            is one level, and `#` any number of them, also none.
        topic: the publication's string.

    Source: SEMANTICS P19.
    """
    if wschema == WildcardSchema.CHAR.value:
        return _by_characters(pattern).fullmatch(topic) is not None
    return _levels_match(pattern.split("/"), topic.split("/"))


def matching(pairs: DataFrame) -> DataFrame:
    """The rows of (object_name, pattern, wschema, ...) whose pattern matches the object's name."""
    return pairs.mapInPandas(_matching_rows, pairs.schema)


def ancestors(topic: Column) -> Column:
    """The topic string and its ancestors by `/` levels; '' is one of '/a', not of 'a'."""
    levels = F.split(topic, "/")
    return F.transform(
        F.sequence(F.lit(1), F.size(levels)),
        lambda n: F.concat_ws("/", F.slice(levels, F.lit(1), n)),
    )


@lru_cache(maxsize=1024)
def _by_characters(pattern: str) -> re.Pattern[str]:
    parts = (_CHARACTERS.get(x) or re.escape(x) for x in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _levels_match(pattern: list[str], levels: list[str]) -> bool:
    reachable = {0}
    for part in pattern:
        if part == "#":
            reachable = set(range(min(reachable), len(levels) + 1)) if reachable else set()
        else:
            reachable = {
                at + 1 for at in reachable if at < len(levels) and part in ("+", levels[at])
            }
    return len(levels) in reachable


def _matching_rows(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        pairs = zip(*(frame[x] for x in (PATTERN, c.WSCHEMA, c.OBJECT_NAME)), strict=True)
        yield frame[[topic_matches(*pair) for pair in pairs]]
