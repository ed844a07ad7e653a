"""Attempts to commit to a table, of which it may be unknown whether they are done.

Between here and an object store an answer may be lost after a put was done, and a listing may lack
a commit that is there: delta-rs then takes its own commit for another writer's, or says that the
version it has just made is not available. So each commit says whose it is, and in case of doubt the
log is read, commit by commit, by their names.
"""

import uuid
from dataclasses import dataclass
from typing import Final

from deltalake import CommitProperties, Transaction
from deltalake.exceptions import CommitFailedError

from clwl_spark.delta.creation import LOG
from clwl_spark.storage.files import is_file, read_text, refusal
from clwl_spark.storage.places import is_store, joined

_WHOSE: Final = "clwlCommit"
"""In a commit's commitInfo."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to commit.

    Attributes:
        folder: of the table.
        after: its version before.
        whose: word that no other commit has; '' in a folder of this machine, where nothing is lost.
    """

    folder: str
    after: int
    whose: str

    @classmethod
    def at(cls, folder: str, version: int) -> "Attempt":
        """An attempt on a table that is at a version."""
        return cls(folder, version, uuid.uuid4().hex if is_store(folder) else "")

    def properties(self, once: tuple[str, int] | None = None) -> CommitProperties | None:
        """What delta-rs is told of the commit.

        Args:
            once: application and version of its transaction.
        """
        transactions = [Transaction(*once)] if once else None
        if not self.whose:
            return CommitProperties(app_transactions=transactions) if once else None
        return CommitProperties(
            custom_metadata={_WHOSE: self.whose},
            app_transactions=transactions,
            max_commit_retries=0,
        )

    def is_done(self) -> bool:
        """Whether the commit is there, though delta-rs says that it failed.

        Raises:
            StorageError: the store does not answer, or refuses.
        """
        if not self.whose:
            return False
        version = self.after + 1
        while is_file(commit := joined(self.folder, LOG, f"{version:020}.json")):
            if self.whose in read_text(commit):
                return True
            version += 1
        return False

    def is_worth_another(self, error: Exception) -> bool:
        """Whether the same may be tried again after it failed, and was not done.

        Raises:
            StorageError: the store does not answer, or refuses.
        """
        if isinstance(error, CommitFailedError):
            return True
        if self.whose and (refused := refusal(self.folder, error)):
            raise refused from None
        return False
