"""Files for platforms: what is not run here is read, and its commands have to be ones of `clwl`."""

import ast
import re
from pathlib import Path

import typer
import yaml

from clwl_spark.cli import app
from clwl_spark.cli.exit_codes import ANYTHING_ELSE, BAD_INPUT
from clwl_spark.errors import GateError

FOLDER = Path(__file__).parents[2] / "conf" / "platforms"
KNOWN = typer.main.get_command(app).commands
NO_RETRY = {GateError.exit_code, BAD_INPUT}
PLACE = re.compile(r"\$\{[\w.]+\}|\{\{[\w.]+\}\}")


def parses(words):
    """Whether a command takes these words, whatever a platform puts for its variables."""
    given = [PLACE.sub("a.b" if "--catalog" in x else "x", x) for x in words]
    with KNOWN[given[0]].make_context(given[0], given[1:]) as context:
        assert context.params
    return given[0]


def test_the_asset_bundle_runs_commands_one_run_at_a_time():
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    (job,) = bundle["resources"]["jobs"].values()
    assert job["max_concurrent_runs"] == 1
    tasks = {x["task_key"]: x for x in job["tasks"]}
    for name, task in tasks.items():
        assert parses(task["python_wheel_task"]["parameters"]) == name
        assert {x["task_key"] for x in task.get("depends_on", [])} <= tasks.keys()
    assert list(tasks) == ["ingest", "validate", "route", "conform", "report"]
    named = re.findall(r"\$\{var\.(\w+)\}", (FOLDER / "databricks.yml").read_text())
    assert set(named) == bundle["variables"].keys()


def test_the_cron_job_routes_alone_and_retries_what_a_retry_helps():
    cron = yaml.safe_load((FOLDER / "kubernetes.yml").read_text())["spec"]
    assert cron["concurrencyPolicy"] == "Forbid"
    (rule,) = cron["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert set(rule["onExitCodes"]["values"]) == NO_RETRY
    assert ANYTHING_ELSE not in NO_RETRY
    pod = cron["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert parses(container["args"]) == "route"
    assert rule["onExitCodes"]["containerName"] == container["name"]
    assert pod["restartPolicy"] == "Never"
    mounted = {x["name"] for x in container["volumeMounts"]}
    assert mounted == {x["name"] for x in pod["volumes"]}


def test_the_airflow_dag_has_commands_of_clwl():
    tree = ast.parse((FOLDER / "airflow_clwl.py").read_text())
    called = [
        [x.value if isinstance(x, ast.Constant) else "x" for x in call.args]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "clwl"
    ]
    assert [parses(x) for x in called] == [
        "ingest", "validate", "route", "load", "conform", "report"
    ]  # fmt: skip


def test_the_container_file_copies_what_a_checkout_has():
    text = (FOLDER / "Containerfile").read_text()
    (copied,) = re.findall(r"^COPY (.*) /tmp/$", text, re.MULTILINE)
    assert copied.split() == ["requirements.txt", "dist/clwl_spark-*.whl"]
    assert 'ENTRYPOINT ["python", "-m", "clwl_spark"]' in text
    assert "\nUSER clwl\n" in text
