"""Certificates come as docs/operations.md says: by certbot beside nginx, and by Caddy itself."""

import contextlib
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
from functools import partial
from pathlib import Path

import pytest
from acme import authority
from found import needed
from limits import MOMENT, wait_until
from proxies import HOST, Proxy, caddy, free_port, nginx

pytestmark = pytest.mark.more

OPERATIONS = (Path(__file__).parents[2] / "docs/operations.md").read_text()


def issuer(proxy: Proxy, host: str = HOST) -> str:
    """Return the issuer of the certificate that is shown for a name."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", proxy.port), 30) as plain,
        context.wrap_socket(plain, server_hostname=host) as connection,
    ):
        shown = connection.getpeercert(binary_form=True)
    command = ["openssl", "x509", "-inform", "DER", "-noout", "-issuer"]
    return subprocess.run(command, input=shown, capture_output=True, check=True).stdout.decode()


def test_certbot_gets_a_certificate_through_nginx_as_shipped(tmp_path: Path) -> None:
    (line,) = re.findall(r"^    (certbot certonly .*)$", OPERATIONS, re.M)
    words = shlex.split(line)
    with (
        nginx(tmp_path, "http://127.0.0.1:9") as proxy,
        authority(tmp_path, proxy.port, proxy.plain_port) as pebble,
    ):
        assert "Pebble" not in issuer(proxy)
        # The command is the documented one, except for places, the name, and options for a first
        # run.
        hook = f"kill -HUP {(tmp_path / 'nginx.pid').read_text().strip()}"
        (tmp_path / "acme").mkdir()
        changed = {
            "certbot": needed("certbot"),
            "/var/www/acme": str(tmp_path / "acme"),
            "survey.example.org": HOST,
            "systemctl reload nginx": hook,
        }
        assert changed.keys() <= {*words}
        own = [f"--{kind}-dir={tmp_path / kind}" for kind in ("config", "work", "logs")]
        first = ["--non-interactive", "--agree-tos", "--register-unsafely-without-email"]
        done = subprocess.run(
            [
                *(changed.get(word, word) for word in words),
                *own,
                *first,
                "--server",
                pebble.directory,
            ],
            env={**os.environ, "REQUESTS_CA_BUNDLE": str(pebble.trusted)},
            capture_output=True,
            text=True,
            timeout=MOMENT,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for name in ("fullchain.pem", "privkey.pem"):
            (tmp_path / name).unlink()
            (tmp_path / name).symlink_to(tmp_path / "config/live" / HOST / name)
        os.kill(int((tmp_path / "nginx.pid").read_text()), signal.SIGHUP)
        wait_until(lambda: "Pebble Intermediate CA" in issuer(proxy))
        # Nothing of the exchange stays in the served folder.
        assert [path for path in (tmp_path / "acme").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("without", ["http", "tls-alpn"])
def test_caddy_gets_certificates_of_both_names_by_itself(without: str, tmp_path: Path) -> None:
    ports = free_port(), free_port()
    names = "survey.example.org", "results.example.org"  # for *.localhost it asks no authority

    def is_given(proxy: Proxy, host: str) -> bool:
        with contextlib.suppress(OSError):  # until it has one, it shows none
            return "Pebble Intermediate CA" in issuer(proxy, host)
        return False

    with authority(tmp_path, *ports) as pebble:
        asked = {
            "module": "acme",
            "ca": pebble.directory,
            "trusted_roots_pem_files": [str(pebble.trusted)],
            "challenges": {without: {"disabled": True}},
        }
        upstream = "http://127.0.0.1:9"
        with caddy(tmp_path, upstream, ports=ports, issuer=asked, names=names) as proxy:
            for host in names:
                wait_until(partial(is_given, proxy, host), MOMENT)
