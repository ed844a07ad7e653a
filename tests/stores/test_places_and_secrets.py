"""What a place's name says, and what is taken out of what is said."""

import json

import pytest

from clwl_spark.cli import main
from clwl_spark.errors import SettingsError
from clwl_spark.logs import LogFormat, Loudness, configure_logs, structlog
from clwl_spark.settings import read_settings
from clwl_spark.storage import places
from clwl_spark.storage.secrets import HIDDEN, without_secrets

PLANTED = "Pl4nted/Se+cret"


@pytest.mark.parametrize(
    ("place", "kind", "is_uri"),
    [
        ("/data/lake", "", False),
        ("build/lake", "", False),
        ("s3", "", False),
        ("s3://bucket/lake", "s3", True),
        ("s3a://bucket/lake", "s3", True),
        ("S3://bucket", "s3", True),
        ("abfss://container@account.dfs.core.windows.net/lake", "azure", True),
        ("gs://bucket/lake", "gs", True),
        ("hdfs://host/lake", "", True),
        ("file:/lake", "", True),
        ("dbfs:/lake", "", True),
    ],
)
def test_what_a_place_is(place, kind, is_uri):
    assert places.store_kind(place) == kind
    assert places.is_store(place) is bool(kind)
    assert places.is_uri(place) is is_uri


def test_places_below_a_place():
    assert places.joined("s3://b/lake/", "runs", "_delta_log") == "s3://b/lake/runs/_delta_log"
    assert places.joined("/lake/", "runs") == "/lake/runs"
    assert places.name_of("s3://b/lake/runs") == "runs"
    assert places.parts_of("s3://b/lake/runs/") == ("s3://b", "lake/runs")
    assert places.absolute("gs://b/x") == "gs://b/x"
    assert not places.is_plain_uri("s3://b/a b")
    assert places.is_plain_uri("abfss://c@a.dfs.core.windows.net/x-1/y=2")


@pytest.mark.parametrize(
    "lake",
    [
        f"s3://key:{PLANTED}@bucket/lake",
        f"s3a://{PLANTED.replace('/', '')}@bucket/lake",
        f"abfss://c@a.dfs.core.windows.net/lake?sig={PLANTED}",
    ],
)
def test_a_place_with_credentials_is_refused_without_them(lake, capsys):
    with pytest.raises(SettingsError, match="has credentials in its URI"):
        read_settings(options={"lake": lake})
    assert main(["explain", "--lake", lake, "--from", "A", "--object", "B"]) == 2
    assert PLANTED not in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        f"s3://key:{PLANTED.replace('/', '')}@bucket/x",
        f"fs.s3a.secret.key={PLANTED}",
        f"--set storage.secret_key={PLANTED}",
        f'{{"aws_secret_access_key": "{PLANTED}"}}',
        f"https://a/b?X-Amz-Credential=x&X-Amz-Signature={PLANTED}&x=1",
        f"https://a/b?sv=2020&sig={PLANTED}",
        f"Authorization: AWS4-HMAC-SHA256 {PLANTED}",
        f"DefaultEndpointsProtocol=https;AccountKey={PLANTED};x",
        f"-----BEGIN PRIVATE KEY-----\n{PLANTED}\n-----END PRIVATE KEY-----",
    ],
)
def test_what_is_written_as_a_secret_is_not_said(text):
    assert PLANTED not in without_secrets(text)
    assert PLANTED.replace("/", "") not in without_secrets(text)
    assert HIDDEN in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "queue TOKENS of QM1: not found",
        "channel TO.QM1 has CLWLWGHT(50), key: value",
        "abfss://container@account.dfs.core.windows.net/lake",
        "run_id=4711 stage=planning",
    ],
)
def test_all_else_is_said_as_it_is(text):
    assert without_secrets(text) == text


def test_the_environment_s_secrets_are_in_no_log_line(monkeypatch, capsys):
    for name in ("AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY", "MY_PASSWORD"):
        monkeypatch.setenv(name, PLANTED)
    configure_logs(LogFormat.JSON, Loudness.NORMAL)
    structlog.get_logger().info("route", why=f"refused for {PLANTED}", count=3)
    line = json.loads(capsys.readouterr().err)
    assert line["why"] == f"refused for {HIDDEN}"
    assert line["count"] == 3


def test_storage_settings_are_checked_and_have_no_credentials(tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text('[storage]\nendpoint = "http://127.0.0.1:9000"\nretries = 3\n')
    found = read_settings(config, ["storage.retries=4"]).storage
    assert (found.endpoint, found.retries, found.timeout_seconds) == (
        "http://127.0.0.1:9000",
        4,
        30,
    )
    for wrong in ("storage.endpoint=ftp://x", "storage.retries=-1", "storage.region=a b"):
        with pytest.raises(SettingsError, match=r"storage\."):
            read_settings(assignments=[wrong])
    with pytest.raises(SettingsError, match="credentials come from the environment") as caught:
        read_settings(assignments=[f"storage.secret_key={PLANTED}"])
    assert PLANTED not in str(caught.value)
