"""A proxy before an S3 server that makes faults.

It passes on every byte but those that a fault says are late, refused, lost or hidden. Calls that
hold Python's lock while they wait (delta-rs' `alter`) cannot go through it from its own process.
"""

import http.client
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from object_stores import HOST, PATIENCE, Server

OF_THE_WAY = ("connection", "expect", "transfer-encoding")
"""Headers that are of one connection, not of the request."""


@dataclass(frozen=True)
class Request:
    """What a client asked for.

    Attributes:
        method: GET, PUT …
        path: of the object or bucket, without what follows `?`.
        query: what follows it.
    """

    method: str
    path: str
    query: str = ""

    @property
    def lists(self) -> str:
        """The folder that it lists; '' = it lists none."""
        found = re.search(r"(?:^|&)prefix=([^&]*)", self.query)
        return unquote(found[1]) if self.method == "GET" and found else ""


@dataclass
class Fault:
    """What goes wrong with requests for which `when` holds.

    Attributes:
        when: says of a request whether it is one.
        kind: refused (503), slow, lost (done, but never answered) or hidden (a listing lacks it).
        times: how often it goes wrong.
        seconds: how late a slow answer is; how long something stays hidden.
        hides: of a hidden key, what it matches.
    """

    when: Callable[[Request], bool]
    kind: str
    times: int = 1
    seconds: float = 0.0
    hides: str = ""
    met: int = 0
    since: float = 0.0


@dataclass
class Proxy:
    """What is between clients and a server, and what it has seen."""

    port: int
    faults: list[Fault] = field(default_factory=list)
    seen: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        """Its address, for clients."""
        return f"http://{HOST}:{self.port}"

    @staticmethod
    def now() -> float:
        """The moment from which a key is hidden."""
        return time.monotonic()

    def listings(self) -> Counter[str]:
        """How often each folder was listed."""
        return Counter(x.lists for x in self.seen if x.lists)

    def fault_of(self, request: Request) -> Fault | None:
        """Note a request, and say what goes wrong with it."""
        with self.lock:
            self.seen.append(request)
            for fault in self.faults:
                if fault.kind == "hidden":
                    if fault.when(request) and time.monotonic() < fault.since + fault.seconds:
                        fault.met += 1
                        return fault
                elif fault.met < fault.times and fault.when(request):
                    fault.met += 1
                    return fault
        return None


@contextmanager
def proxy_before(server: Server) -> Iterator[Proxy]:
    """A proxy before a server, for the block."""

    class Handler(_Handler):
        upstream = server.port
        proxy: Proxy

    listening = ThreadingHTTPServer((HOST, 0), Handler)
    listening.daemon_threads = True
    Handler.proxy = Proxy(listening.server_address[1])
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Handler.proxy
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Passes requests on."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    upstream: int
    proxy: Proxy

    def _pass_on(self) -> None:
        where = urlsplit(self.path)
        fault = self.proxy.fault_of(Request(self.command, unquote(where.path), where.query))
        body = self._body()
        if fault is not None and fault.kind == "refused":
            self._answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        if fault is not None and fault.kind == "slow":
            time.sleep(fault.seconds)
        status, headers, answer = self._asked(body)
        if fault is not None and fault.kind == "lost":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if fault is not None and fault.kind == "hidden":
            answer = _hidden(answer.decode(), fault.hides).encode()
        self._answer(status, headers, answer)

    def _body(self) -> bytes:
        if "Transfer-Encoding" not in self.headers:
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _asked(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        server = http.client.HTTPConnection(HOST, self.upstream, timeout=PATIENCE)
        try:
            server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in OF_THE_WAY:
                    server.putheader(name, value)
            if "Transfer-Encoding" in self.headers:
                server.putheader("Content-Length", str(len(body)))
            server.endheaders(body)
            found = server.getresponse()
            return found.status, dict(found.getheaders()), found.read()
        finally:
            server.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


for _method in ("GET", "PUT", "HEAD", "POST", "DELETE"):
    setattr(_Handler, f"do_{_method}", _Handler._pass_on)


def _hidden(listing: str, key: str) -> str:
    """A listing without the keys that match."""

    def kept(found: re.Match[str]) -> str:
        named = re.search(r"<Key>([^<]*)</Key>", found[0])
        return "" if named and re.search(key, unquote(named[1])) else found[0]

    return re.sub(r"<Contents>.*?</Contents>", kept, listing, flags=re.DOTALL)
