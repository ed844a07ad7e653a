"""What a command ends with, where it is not done (CONTRACT, "Exit codes")."""

from typing import Final

WRONG_USAGE: Final = 2
BAD_INPUT: Final = 2
ANYTHING_ELSE: Final = 3
INTERRUPTED: Final = 130
NOBODY_READS: Final = 141
TERMINATED: Final = 143
