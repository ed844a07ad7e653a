"""How the work of a batch is shared out: splits and buckets in tasks for workers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clwl_spark.routing.engines.tasks import (
    BucketTask,
    Packed,
    WaitingBlock,
)
from clwl_spark.routing.intake.blocks import bucket_of
from clwl_spark.routing.intake.splits import Split
from clwl_spark.routing.ledger.run_record import Run


def grouped(splits: Iterable[Split], rows: int) -> Iterator[tuple[Split, ...]]:
    """Splits that follow one another, put together up to so many rows, or alone."""
    group: list[Split] = []
    for split in splits:
        if group and sum(x.rows for x in group) + split.rows > rows:
            yield tuple(group)
            group = []
        group.append(split)
    if group:
        yield tuple(group)


def spread(buckets: Iterable[BucketTask], parts: int) -> list[tuple[BucketTask, ...]]:
    """Buckets in parts that are about as heavy as one another, the heaviest first."""
    shares: list[list[BucketTask]] = [[] for _ in range(parts)]
    weights = [0] * parts
    for bucket in sorted(buckets, key=lambda x: (-x.messages, x.bucket)):
        at = weights.index(min(weights))
        shares[at].append(bucket)
        weights[at] += bucket.messages
    order = sorted(range(parts), key=lambda x: -weights[x])
    return [tuple(shares[x]) for x in order if shares[x]]


def bucket_tasks(
    run: Run,
    buckets: int,
    packed: Sequence[Packed],
    facts: Mapping[str, str],
    memories: Mapping[str, bytes],
) -> list[BucketTask]:
    """The buckets that have messages, each with what its queue managers know and remember.

    Args:
        run: whose batch it is.
        buckets: how many there are.
        packed: the messages.
        facts: documents of `planning.facts` by queue manager.
        memories: by queue manager; one that is new has none.
    """
    blocks: dict[str, list[WaitingBlock]] = defaultdict(list)
    for block in (x for one in packed for x in one.blocks):
        blocks[block.bucket].append(block)
    qmgrs: dict[str, list[str]] = defaultdict(list)
    for qmgr in sorted({request.qmgr for one in packed for _, request in one.requests}):
        qmgrs[bucket_of(qmgr, buckets)].append(qmgr)
    return [
        BucketTask(
            bucket,
            tuple(found),
            {x: facts[x] for x in qmgrs[bucket]},
            {x: memories[x] for x in qmgrs[bucket] if x in memories},
            {} if run.rejects_duplicates else None,
        )
        for bucket, found in blocks.items()
    ]
