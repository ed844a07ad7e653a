"""Tells Java what Python already knows of the network: proxies, and whom this machine trusts."""

import hashlib
import ssl
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

CERTIFICATE_VARIABLES: Final = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")

_PORTS: Final = {"https": 443}
_STORE_HEADER: Final = struct.pack(">II", 0xFEEDFEED, 2)
_TRUSTED: Final = 2
_STORE_SEAL: Final = "changeit"


def proxy_options(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return Java options for the proxies that `https_proxy`, `http_proxy` and `no_proxy` name."""
    options = []
    for scheme in ("https", "http"):
        address = urlsplit(_either(env, f"{scheme}_proxy"))
        if address.hostname:
            port = address.port or _PORTS.get(address.scheme, 80)
            options += [f"-D{scheme}.proxyHost={address.hostname}", f"-D{scheme}.proxyPort={port}"]
    direct = _either(env, "no_proxy")
    if options and direct:
        hosts = (host.strip() for host in direct.split(","))
        wild = (f"*{host}" if host.startswith(".") else host for host in hosts)
        options.append(f"-Dhttp.nonProxyHosts={'|'.join(wild)}")
    return tuple(options)


def trust_options(folder: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    """Write this machine's certificate authorities as a Java store; return the options to use it.

    A Java that came as a Python package knows only the public authorities, not those that a
    company adds to its machines.

    Args:
        folder: where the store is written.
        env: may name further bundles, in any of `CERTIFICATE_VARIABLES`.

    Returns:
        No option where Python knows no authorities either.
    """
    certificates = _authorities(env)
    if not certificates:
        return ()
    store = folder / "authorities.jks"
    store.write_bytes(_java_store(certificates))
    return (
        f"-Djavax.net.ssl.trustStore={store}",
        "-Djavax.net.ssl.trustStoreType=JKS",
        f"-Djavax.net.ssl.trustStorePassword={_STORE_SEAL}",
    )


def _either(env: Mapping[str, str], name: str) -> str:
    """The value of a variable, in small letters or in capitals."""
    return env.get(name) or env.get(name.upper()) or ""


def _authorities(env: Mapping[str, str]) -> tuple[bytes, ...]:
    """Every authority that Python trusts on this machine, in DER."""
    context = ssl.create_default_context()
    for variable in CERTIFICATE_VARIABLES:
        bundle = env.get(variable)
        if bundle and Path(bundle).is_file():
            context.load_verify_locations(cafile=bundle)
    return tuple(context.get_ca_certs(binary_form=True))


def _java_store(certificates: tuple[bytes, ...]) -> bytes:
    """The certificates as a Java key store (JKS, version 2), sealed with the usual password."""
    body = _STORE_HEADER + struct.pack(">I", len(certificates))
    for number, certificate in enumerate(certificates):
        body += struct.pack(">I", _TRUSTED) + _text(f"authority-{number}") + struct.pack(">Q", 0)
        body += _text("X.509") + struct.pack(">I", len(certificate)) + certificate
    seal = _STORE_SEAL.encode("utf-16-be") + b"Mighty Aphrodite" + body
    return body + hashlib.sha1(seal, usedforsecurity=False).digest()


def _text(word: str) -> bytes:
    """An ASCII word as Java's `writeUTF` writes it."""
    return struct.pack(">H", len(word)) + word.encode("ascii")
