"""One run at a time on a lake in folders of this machine.

What makes it sure that no message is lost or doubled are Delta's transactions (`runs.claim`); this
tells a run that is alive from one that was killed. The lock is the system's, on the folder of
table `runs`: it is gone with the process, however that ends, and leaves no file behind.
Object stores have no locks: there Delta's transactions alone decide.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.ledger.runs import routed_elsewhere
from clwl_spark.storage.places import is_store
from clwl_spark.tables import RUNS

_HELD: Final = (errno.EWOULDBLOCK, errno.EACCES)


@contextmanager
def one_runner(lake: Lake) -> Iterator[None]:
    """For the block, no other process of this machine routes the lake.

    Raises:
        LakeStateError: another one does.
    """
    if not lake.is_here or is_store(lake.root):
        yield
        return
    folder = os.open(lake.path(RUNS.name), os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                raise routed_elsewhere(lake) from None
            # A file system without locks: transactions alone decide.
        yield
    finally:
        with suppress(OSError):
            os.close(folder)
