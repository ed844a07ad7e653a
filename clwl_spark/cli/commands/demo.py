"""`clwl demo`: its options and help."""

from clwl_spark.cli.options import Common, run_command


def demo(common: Common) -> int:
    """Make a small cluster and its traffic, route it, and say where the results are.

    The lake is the folder clwl-demo unless --lake says otherwise. On a lake
    that the demo made before, nothing is added.

    [bold]Examples[/bold]

    clwl demo

    clwl demo --lake build/demo-lake
    """
    return run_command("demo", common)
