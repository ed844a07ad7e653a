"""`clwl doctor`: the machine that it runs on."""

from clwl_spark.cli.options import Common, run_command


def doctor(common: Common) -> int:
    """Say what on this machine would keep clwl from working, and what to do about it.

    The exit code is 3 if something does. A note is something that works, but could be better.

    [bold]Examples[/bold]

    clwl doctor

    clwl doctor --json
    """
    return run_command("doctor", common)
