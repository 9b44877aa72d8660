"""Firefox, driven by Marionette, the protocol that it speaks by itself, without another program.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from limits import LONG, wait_until
from programs import find

#: Firefox asks the network for nothing except what a test asks for.
_PREFERENCES: dict[str, Any] = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class Firefox:
    """One Firefox with a new profile, and one tab."""

    def __init__(self, connection: socket.socket) -> None:
        self._stream = connection.makefile("rwb")
        self._number = 0
        self._read()  # which kind of browser it is
        self._call("WebDriver:NewSession", {"pageLoadStrategy": "normal"})

    def visit(self, url: str) -> None:
        """Open an address, and wait until all of it has loaded or failed."""
        self._call("WebDriver:Navigate", {"url": url})

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        script = {"script": f"return {expression}", "args": [], "sandbox": "default"}
        return self._call("WebDriver:ExecuteScript", script)["value"]

    def _call(self, command: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        content = json.dumps([0, self._number, command, parameters]).encode()
        self._stream.write(b"%d:%s" % (len(content), content))
        self._stream.flush()
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            byte = self._stream.read(1)
            assert byte, "Firefox has ended the connection"
            length += byte
        return json.loads(self._stream.read(int(length[:-1])))


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Run Firefox, with its profile and its messages in a folder."""
    path = find("firefox")
    assert path is not None, "no Firefox; python tests/programs.py firefox installs one"
    profile = folder / "profile"
    profile.mkdir()
    lines = [
        f"user_pref({json.dumps(key)}, {json.dumps(value)});" for key, value in _PREFERENCES.items()
    ]
    (profile / "user.js").write_text("\n".join(lines))
    call = [path, "--headless", "--no-remote", "--marionette", "--profile", str(profile)]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [*call, "about:blank"],
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"},
        )
    try:
        with socket.create_connection(("127.0.0.1", _port(process, profile)), LONG) as connection:
            yield Firefox(connection)
    finally:
        # A process group of its own, for the browser and the processes of its pages.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(LONG)


def _port(process: "subprocess.Popen[bytes]", profile: Path) -> int:
    """Return the port on which Firefox listens, which it writes into its profile."""
    file = profile / "MarionetteActivePort"

    def is_written() -> bool:
        return file.is_file() and bool(file.read_text().strip())

    wait_until(lambda: is_written() or process.poll() is not None)
    assert is_written(), f"Firefox ended with {process.poll()}"
    return int(file.read_text())
