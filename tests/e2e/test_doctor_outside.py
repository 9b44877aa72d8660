"""Check what `deniable doctor --url` reports through nginx, as shipped and with faults."""

import socket
from pathlib import Path
from typing import Any

import proxies
import pytest
from collector import Collector
from proxies import HOST, Proxy, nginx, replaced

from server.deploy import Settings, made
from server.doctor import outside

pytestmark = pytest.mark.more


def wrong(proxy: Proxy) -> dict[str, str]:
    """Return the findings of faults. Researchers have a port of the collector in these tests."""
    authority = str(proxy.folder / "fullchain.pem")
    found = [one for one in outside.look(proxy.url, authority) if not one.ok]
    assert all(one.advice for one in found)
    faults = {one.subject: one.finding for one in found}
    assert faults.pop("researchers' pages") == "served to everybody: /surveys /results"
    return faults


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve the names of these tests to this machine, as browsers do."""
    there = socket.create_connection

    def here(address: tuple[str, int], *others: Any) -> socket.socket:
        host, port = address
        return there(("127.0.0.1" if host == HOST else host, port), *others)

    monkeypatch.setattr(socket, "create_connection", here)


def test_the_shipped_file_has_no_fault(tmp_path: Path, collector: Collector) -> None:
    with nginx(tmp_path, collector.url) as proxy:
        assert wrong(proxy) == {}


def test_a_collector_that_is_down_is_reported_once(tmp_path: Path) -> None:
    with nginx(tmp_path, "http://127.0.0.1:9") as proxy:
        authority = str(proxy.folder / "fullchain.pem")
        trusted = [one for one in outside.look(proxy.url, authority) if not one.ok]
        others = [one for one in outside.look(proxy.url) if not one.ok]
    assert [one.subject for one in trusted] == ["health"]
    assert trusted[0].finding.startswith("no collector answered (502)")
    assert [one.subject for one in others] == ["certificate", "health"]


FAULTS = {
    "TLS 1.3": ("ssl_conf_command NumTickets 0;", ""),
    "TLS 1.2": ("ssl_protocols TLSv1.2 TLSv1.3;", "ssl_protocols TLSv1.3;"),
    "compression": ("proxy_set_header Accept-Encoding $compressed;", ""),
    "other websites": ("proxy_set_header Sec-Fetch-Site $http_sec_fetch_site;", ""),
    "another name": ("ssl_reject_handshake on;", ""),
    "another host": ("return 444;", "return 200 hello;"),
}


#: Faults of different parts, which a file has at once.
@pytest.mark.parametrize(
    "subjects",
    [("TLS 1.3", "compression"), ("TLS 1.2", "another name"), ("other websites", "another host")],
)
def test_each_fault_is_reported(
    subjects: tuple[str, str],
    tmp_path: Path,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(kind: str, settings: Settings) -> dict[str, str]:
        text = made(kind, settings)["nginx.conf"]
        for subject in subjects:
            text = replaced(text, FAULTS[subject])
        return {"nginx.conf": text}

    monkeypatch.setattr(proxies, "made", changed)
    with nginx(tmp_path, collector.url) as proxy:
        assert wrong(proxy).keys() == {*subjects}


def test_a_certificate_that_nobody_vouches_for_is_reported(
    tmp_path: Path, collector: Collector
) -> None:
    with nginx(tmp_path, collector.url) as proxy:
        found = {one.subject: one for one in outside.look(proxy.url)}
    assert not found["certificate"].ok
    assert "browsers refuse it" in found["certificate"].finding
    assert not found["pages"].ok
