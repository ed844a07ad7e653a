"""Great Expectations comes without what only a few expectations need."""

import subprocess
import sys

PROGRAM = """
import sys
from clwl_spark.checks.quality import library
assert not {"altair.vegalite", "scipy.stats._stats_py", "scipy.sparse._base"} & sys.modules.keys()
import altair, scipy.sparse
from scipy import stats
assert stats.norm.cdf(0) == 0.5
assert scipy.sparse.eye(2).nnz == 2
assert altair.Chart().mark_bar().to_dict()["mark"]["type"] == "bar"
"""


def test_what_is_put_off_is_whole_when_it_is_asked_for():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
