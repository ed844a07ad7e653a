"""What is a topic string to publish to, and what a subscription's string covers."""

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from clwl_spark.errors import UsageError

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


def reaches_below(pattern: Column, topic: Column) -> Column:
    """Whether a subscription's string can match a topic string, or one below it.

    It does where its levels up to the topic's are the topic's or `+`, or a `#` comes before they
    end. So `/a/b`, `/a/+/c` and `#` reach `/a`; `/b/#` and, being above it, `/` do not.

    Source: Hughson's deck, "Pub/Sub Cluster Architecture 2"; SEMANTICS P19.
    """
    asked, given = F.split(pattern, "/"), F.split(topic, "/")
    hash_at = F.array_position(asked, "#")
    compared = F.when((hash_at > 0) & (hash_at <= F.size(given)), hash_at - 1).otherwise(
        F.size(given)
    )
    long_enough = F.size(asked) >= compared
    return long_enough & F.forall(
        F.sequence(F.lit(0), F.size(given) - 1),
        lambda at: (
            (at >= compared)
            | F.get(asked, at).eqNullSafe("+")
            | F.get(asked, at).eqNullSafe(F.get(given, at))
        ),
    )
