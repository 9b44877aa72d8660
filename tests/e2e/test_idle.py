"""Visitors who stay connected keep nobody else waiting, through nginx as shipped."""

import asyncio
import resource
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from collector import Collector
from limits import MOMENT, run_apart
from proxies import HOST, Proxy, nginx

pytestmark = pytest.mark.more

IDLE = 2500
#: Connections that are made at the same time.
AT_ONCE = 50


@pytest.fixture
def proxy(collector: Collector, tmp_path: Path) -> Iterator[Proxy]:
    with nginx(tmp_path, collector.url) as running:
        yield running


async def visit(proxy: Proxy, context: ssl.SSLContext) -> asyncio.StreamWriter:
    """Connect, ask for the shortest page, read it, and stay connected."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", proxy.port, ssl=context, server_hostname=HOST
    )
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    return writer


async def beside(proxy: Proxy) -> int:
    """Have one more visitor answered beside the others, and return how many of these stayed."""
    context = ssl.create_default_context(cafile=str(proxy.folder / "fullchain.pem"))
    turn = asyncio.Semaphore(AT_ONCE)

    async def one() -> asyncio.StreamWriter:
        async with turn:
            return await visit(proxy, context)

    idle = await asyncio.gather(*(one() for _ in range(IDLE)))
    (await asyncio.wait_for(visit(proxy, context), MOMENT)).close()
    await asyncio.sleep(0)
    there = sum(not writer.is_closing() for writer in idle)
    for writer in idle:
        writer.transport.abort()
    return there


def test_a_visitor_is_answered_beside_thousands_who_stay_connected(proxy: Proxy) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = IDLE + 500
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.fail(f"expected a limit of {needed} open files, got {hard}: ulimit -n {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    try:
        there = run_apart(beside(proxy))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert there == IDLE
