import os
import subprocess
from pathlib import Path

import pytest

from clwl_spark.spark.runtime import network
from clwl_spark.spark.runtime.java import java_home
from clwl_spark.spark.runtime.network import proxy_options, trust_options


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ({}, ()),
        ({"no_proxy": "localhost"}, ()),
        (
            {"HTTPS_PROXY": "http://proxy.example:3128"},
            ("-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"),
        ),
        (
            {"https_proxy": "https://p", "HTTPS_PROXY": "http://q:1"},
            ("-Dhttps.proxyHost=p", "-Dhttps.proxyPort=443"),
        ),
        (
            {"http_proxy": "http://p", "NO_PROXY": "localhost, .example"},
            (
                "-Dhttp.proxyHost=p",
                "-Dhttp.proxyPort=80",
                "-Dhttp.nonProxyHosts=localhost|*.example",
            ),
        ),
    ],
)
def test_proxies_are_told_to_java(env, options):
    assert proxy_options(env) == options


def test_no_authorities_no_option(tmp_path, monkeypatch):
    monkeypatch.setattr(network, "_authorities", lambda _env: ())
    assert trust_options(tmp_path, {}) == ()


def test_the_store_has_the_layout_that_java_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(network, "_authorities", lambda _env: (b"certificate",))
    store, *_ = trust_options(tmp_path, {})
    content = (tmp_path / "authorities.jks").read_bytes()
    assert store == f"-Djavax.net.ssl.trustStore={tmp_path / 'authorities.jks'}"
    assert content.hex().startswith("feedfeed000000020000000100000002000b")
    assert content[:-20].endswith(b"\x00\x00\x00\x0bcertificate")


def test_bundles_named_in_the_environment_are_trusted_too(tmp_path, monkeypatch):
    loaded = []

    class Context:
        def load_verify_locations(self, cafile):
            loaded.append(cafile)

        def get_ca_certs(self, *, binary_form):
            return [b"x"] if binary_form else []

    monkeypatch.setattr(network.ssl, "create_default_context", Context)
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("")
    assert trust_options(tmp_path, {"PIP_CERT": str(bundle), "SSL_CERT_FILE": "/nowhere"})
    assert loaded == [str(bundle)]


def output_of(program: Path, *words: str) -> str:
    """What a program prints."""
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def test_java_opens_the_store(tmp_path):
    java = java_home(tmp_path, os.environ).executable
    if not trust_options(tmp_path, {}):
        pytest.skip("Python knows no authorities here")
    if "jdk.compiler" not in output_of(java, "--list-modules"):
        pytest.skip("this Java has no compiler")
    program = tmp_path / "Count.java"
    program.write_text(
        "public class Count { public static void main(String[] a) throws Exception {"
        'var s = java.security.KeyStore.getInstance("JKS");'
        'try (var f = new java.io.FileInputStream(a[0])) { s.load(f, "changeit".toCharArray()); }'
        "System.out.println(s.size()); } }"
    )
    size = output_of(java, str(program), str(tmp_path / "authorities.jks"))
    assert int(size) == len(network._authorities({}))
