"""A real S3-compatible server on loopback: SeaweedFS, as its wheel brings it.

The wheel is the one of requirements-stores.txt.
"""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from obstore.store import S3Store
from pyarrow import fs

HOST = "127.0.0.1"
BUCKET = "lakes"
KEY = "planted-key-id"
SECRET = "planted/secret+of-the-tests"  # noqa: S105  (of a server that ends with the tests)
REGION = "us-east-1"
WEED = Path(sys.executable).with_name("weed")
_PORTS = 6
PATIENCE = 60


@dataclass(frozen=True)
class Server:
    """An S3 server that runs."""

    port: int

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to be let in."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def store(self) -> S3Store:
        """The bucket, for what a test puts there or looks at itself."""
        return S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region=REGION,
            client_options={"allow_http": True},
        )

    def files(self) -> fs.S3FileSystem:
        """The server's buckets, as Arrow sees them."""
        return fs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=self.endpoint,
            region=REGION,
            allow_bucket_creation=True,
        )


@contextmanager
def s3_server(folder: Path) -> Iterator[Server]:
    """A server with an empty bucket, for the block; it has its files in a folder."""
    ports = _free_ports()
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    rights = folder / "rights.json"
    rights.write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(WEED), "server", *_words(folder, ports)], stdout=log, stderr=log, cwd=folder
        )
    try:
        server = Server(ports[0])
        _wait_for(process, server, folder / "log")
        yield server
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _words(folder: Path, ports: list[int]) -> list[str]:
    names = (
        "s3.port",
        "s3.port.grpc",
        "master.port",
        "volume.port",
        "filer.port",
        "filer.port.grpc",
    )
    return [
        f"-dir={folder / 'data'}",
        f"-s3.config={folder / 'rights.json'}",
        f"-ip={HOST}",
        f"-ip.bind={HOST}",
        "-filer",
        "-s3",
        "-s3.iam=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=256",
        "-master.volumePreallocate=false",
        "-volume.max=20",
        *(f"-{name}={port}" for name, port in zip(names, ports, strict=True)),
    ]


def _free_ports() -> list[int]:
    """Ports that nobody listens at; the server takes 10,000 more for gRPC of some."""
    found: list[int] = []
    while len(found) < _PORTS:
        with socket.socket() as probe, socket.socket() as other:
            probe.bind((HOST, 0))
            port = probe.getsockname()[1]
            try:
                other.bind((HOST, port - 10_000))
            except (OSError, OverflowError):
                continue
            found.append(port - 10_000)
    return found


def _wait_for(process: subprocess.Popen[bytes], server: Server, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            server.files().create_dir(BUCKET)
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until, log.read_text()[-2000:]
            time.sleep(0.1)
        else:
            return
