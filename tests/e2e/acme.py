"""Run Pebble on this machine, which gives certificates by ACME, as Let's Encrypt does."""

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from found import needed
from limits import MOMENT, wait_until
from proxies import free_port


@dataclass(frozen=True)
class Authority:
    """The address of the authority, and the file of the certificate that it shows."""

    directory: str
    trusted: Path


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), MOMENT).close()
        return True
    return False


@contextlib.contextmanager
def authority(folder: Path, port: int, plain_port: int) -> Iterator[Authority]:
    """Run Pebble, which finds every name on this machine, at these ports instead of 80 and 443."""
    trusted, key = folder / "authority.pem", folder / "authority-key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(trusted)),
        ],
        check=True,
        capture_output=True,
    )
    asked, names = free_port(), free_port()
    settings = {
        "listenAddress": f"127.0.0.1:{asked}",
        "managementListenAddress": f"127.0.0.1:{free_port()}",
        "certificate": str(trusted),
        "privateKey": str(key),
        "httpPort": plain_port,
        "tlsPort": port,
    }
    file = folder / "pebble.json"
    file.write_text(json.dumps({"pebble": settings}))
    answering = ["-defaultIPv6", "", "-dns01", f"127.0.0.1:{names}", "-http01", "", "-https01", ""]
    answering += ["-tlsalpn01", "", "-management", f"127.0.0.1:{free_port()}"]
    server = str(Path(needed("pebble")).with_name("pebble-challtestsrv"))
    # Without these, Pebble waits, and refuses some requests on purpose.
    settled = {**os.environ, "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
    commands = [
        [server, *answering],
        [needed("pebble"), "-config", str(file), "-dnsserver", f"127.0.0.1:{names}"],
    ]
    with contextlib.ExitStack() as stack, (folder / "authority.log").open("wb") as log:
        for command in commands:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=settled)
            stack.callback(process.wait, MOMENT)
            stack.callback(process.terminate)
        wait_until(lambda: _listens(asked), MOMENT)
        yield Authority(f"https://localhost:{asked}/dir", trusted)
