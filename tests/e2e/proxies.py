"""Run the proxies that `deniable deploy` configures, as shipped, before a collector."""

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from limits import MOMENT
from programs import find

from server.deploy import Settings, made

#: Names that browsers find on their own machine.
HOST, RESEARCH_HOST = "survey.localhost", "results.localhost"
#: An address of this machine that nothing else uses, so a client can be found in files.
CLIENT = "127.77.66.55"
#: Where nginx would keep what does not fit into memory.
PLACES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass
class Proxy:
    """A running proxy: its ports, and the folder that has all its files."""

    port: int
    plain_port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    def connect(
        self,
        *protocols: str,
        host: str = HOST,
        version: ssl.TLSVersion | None = None,
    ) -> ssl.SSLSocket:
        """Return a connection with TLS from the address `CLIENT`."""
        context = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        if version is not None:
            context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(protocols or ("http/1.1",))
        plain = socket.create_connection(("127.0.0.1", self.port), 30, (CLIENT, 0))
        return context.wrap_socket(plain, server_hostname=host)

    def request(
        self, method: str, path: str, body: bytes | None = None, host: str = HOST, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Return an answer and its body."""
        connection = http.client.HTTPSConnection(host, self.port)
        connection.sock = self.connect(host=host)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            return response, response.read()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def certificate(folder: Path) -> None:
    """Make a certificate for both names, and its key."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "30", "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST},DNS:{RESEARCH_HOST}"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")),
        ],
        check=True,
        capture_output=True,
    )


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """Return the text with all these changes, each of which must have a place in it."""
    for old, new in changes:
        assert old in text, f"the configuration no longer has {old!r}: change the test with it"
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def nginx(folder: Path, upstream: str, research: str | None = None) -> Iterator[Proxy]:
    """Run the shipped configuration with other ports, user and places, and nothing else changed."""
    program = find("nginx")
    if program is None:
        pytest.fail("no nginx; python tests/programs.py nginx installs one")
    certificate(folder)
    settings = Settings(
        HOST, RESEARCH_HOST, certificates=str(folder), challenges=str(folder / "acme")
    )
    proxy = Proxy(free_port(), free_port(), folder)
    places = "".join(f"    {name}_temp_path {folder / name};\n" for name in PLACES)
    text = replaced(
        made("nginx", settings)["nginx.conf"],
        ("user www-data;", "" if os.geteuid() else "user root;"),
        ("/run/nginx.pid", str(folder / "nginx.pid")),
        ("    access_log off;\n", f"    access_log off;\n{places}"),
        ("        listen [::]:80;\n", ""),
        ("        listen [::]:80 default_server;\n", ""),
        ("        listen [::]:443 ssl http2;\n", ""),
        ("        listen [::]:443 ssl http2 default_server;\n", ""),
        ("listen 80", f"listen 127.0.0.1:{proxy.plain_port}"),
        ("listen 443 ssl", f"listen 127.0.0.1:{proxy.port} ssl"),
        ("http://127.0.0.1:8000;", f"{upstream};"),
        ("http://127.0.0.1:8001;", f"{research or upstream};"),
    )
    file = folder / "nginx.conf"
    file.write_text(text)
    command = [program, "-p", str(folder), "-e", str(folder / "start.log"), "-c", str(file)]
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr
    with running([*command, "-g", "daemon off;"], proxy):
        yield proxy


def _change(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON with each of its texts changed."""
    if isinstance(value, dict):
        return {key: _change(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [_change(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


@contextlib.contextmanager
def caddy(
    folder: Path,
    upstream: str,
    in_compose: bool = False,
    ports: tuple[int, int] | None = None,
    issuer: dict[str, Any] | None = None,
    names: tuple[str, str] = (HOST, RESEARCH_HOST),
) -> Iterator[Proxy]:
    """Run the shipped configuration with other ports.

    Its certificate is one that no authority gave, unless it gets one from an `issuer`.
    """
    program = find("caddy")
    if program is None:
        pytest.fail("no caddy; python tests/programs.py caddy installs one")
    certificate(folder)
    proxy = Proxy(*(ports or (free_port(), free_port())), folder)
    place = upstream.removeprefix("http://")
    others = {
        ":443": f"127.0.0.1:{proxy.port}",
        ":80": f"127.0.0.1:{proxy.plain_port}",
        ":8001": f"127.0.0.1:{free_port()}",
        **dict.fromkeys(("127.0.0.1:8000", "127.0.0.1:8001"), place),
        **dict.fromkeys(("collector:8000", "collector:8001"), place),
    }
    kind = "compose" if in_compose else "caddy"
    text = made(kind, Settings(*names))["caddy.json"]
    if in_compose:  # Debian's release has other fields
        older = '"buffer_requests": true, "max_buffer_size": 65536'
        text = replaced(text, ('"request_buffers": 65536', older))
    shipped = _change(json.loads(text), lambda word: others.get(word, word))
    shipped["apps"]["http"].update(http_port=proxy.plain_port, https_port=proxy.port)
    files = {"certificate": str(folder / "fullchain.pem"), "key": str(folder / "privkey.pem")}
    if issuer is None:
        shipped["apps"]["tls"]["certificates"] = {"load_files": [files]}
    else:
        shipped["apps"]["tls"]["automation"] = {"policies": [{"issuers": [issuer]}]}
    shipped["storage"] = {"module": "file_system", "root": str(folder / "storage")}
    file = folder / "caddy.json"
    file.write_text(json.dumps(shipped))
    with running([program, "run", "--config", str(file)], proxy):
        yield proxy


@contextlib.contextmanager
def running(command: list[str], proxy: Proxy) -> Iterator[None]:
    """Run a proxy until the block ends; its messages are in a file of its folder."""
    with (proxy.folder / "messages").open("wb") as messages:
        process = subprocess.Popen(command, stdout=messages, stderr=messages)
    try:
        while True:
            said = (proxy.folder / "messages").read_text()
            assert process.poll() is None, f"the proxy has ended: {said}"
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", proxy.port), 5).close()
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        try:
            process.wait(MOMENT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
