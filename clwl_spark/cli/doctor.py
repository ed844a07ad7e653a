"""`clwl doctor`: what on this machine would keep the package from working."""

import json

from rich.text import Text

from clwl_spark.cli.options import Common
from clwl_spark.cli.work import screen_of, settings_of
from clwl_spark.errors import SetupError
from clwl_spark.spark.runtime.doctor import (
    check_embedded,
    check_spark,
    checks,
    doctor_report,
    healthy,
)


def run(common: Common) -> int:
    """Look at everything, report, and return the exit code."""
    screen = screen_of(common, settings_of(common), "doctor")
    with screen.others_to_stderr():
        found = checks()
        found += [check_embedded(), check_spark()]
        screen.document(json.loads(doctor_report(found, as_json=True)))
        screen.show(Text(doctor_report(found)))
    return 0 if healthy(found) else SetupError.exit_code
