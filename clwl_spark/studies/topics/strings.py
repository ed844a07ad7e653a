"""What is a topic string to publish to, and what a subscription's string covers."""

from collections.abc import Iterator
from typing import Final

import pandas as pd
from pyspark.sql import DataFrame

from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import WildcardSchema
from clwl_spark.planning.topic_strings import PATTERN, topic_matches
from clwl_spark.tables import columns as c

LONGEST: Final = 10_240
_WILDCARDS: Final = ("+", "#")


def check_topic_string(text: str) -> None:
    """Refuse what nothing can be published to.

    Raises:
        UsageError: blank, longer than MQ's 10,240 characters, with a null character, or with a
            level that is a wildcard (SEMANTICS P19: `+` and `#`; `*` is plain text).
    """
    fault = None
    if not text.strip():
        fault = "it is blank"
    elif len(text) > LONGEST:
        fault = f"it has {len(text)} characters, more than {LONGEST}"
    elif "\0" in text:
        fault = "it has a null character"
    elif wild := next((level for level in text.split("/") if level in _WILDCARDS), None):
        fault = f"its level '{wild}' is a wildcard, which only subscriptions may have"
    if fault is not None:
        shown = text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004
        raise UsageError(f"{shown!r} is no topic string: {fault}; give one like news/sport")


def reaching(pairs: DataFrame) -> DataFrame:
    """The rows of (pattern, wschema, topicstr, ...) whose pattern can match the topic or below."""
    return pairs.mapInPandas(_reaching_rows, pairs.schema)


def reaches_below(pattern: str, wschema: str, topic: str) -> bool:
    """Whether a subscription's string can match a topic string, or one below it.

    By levels it does where its levels up to the topic's are the topic's or `+`, or a `#` comes
    before they end. So `/a/b`, `/a/+/c` and `#` reach `/a`; `/b/#` and, being above it, `/` do not.
    By characters it does where it matches the topic, or what begins with the topic and a `/`.

    Source: Hughson's deck, "Pub/Sub Cluster Architecture 2"; SEMANTICS P19.
    """
    if wschema == WildcardSchema.CHAR.value:
        return topic_matches(pattern, wschema, topic) or _can_begin(pattern, f"{topic}/")
    asked, given = pattern.split("/"), topic.split("/")
    compared = min(asked.index("#"), len(given)) if "#" in asked else len(given)
    return len(asked) >= compared and all(
        x in ("+", y) for x, y in zip(asked[:compared], given[:compared], strict=True)
    )


def _can_begin(pattern: str, start: str) -> bool:
    """Whether a pattern by characters matches anything that begins so."""
    places = _behind_stars(pattern, {0})
    for character in start:
        onward = {
            at if pattern[at] == "*" else at + 1
            for at in places
            if at < len(pattern) and pattern[at] in ("*", "?", character)
        }
        places = _behind_stars(pattern, onward)
    return bool(places)


def _behind_stars(pattern: str, places: set[int]) -> set[int]:
    """The places, and those behind the `*` at them, which may match nothing."""
    found = set(places)
    for at in places:
        end = at
        while end < len(pattern) and pattern[end] == "*":
            end += 1
            found.add(end)
    return found


def _reaching_rows(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        pairs = zip(*(frame[x] for x in (PATTERN, c.WSCHEMA, c.TOPICSTR)), strict=True)
        yield frame[[reaches_below(*pair) for pair in pairs]]
