"""Run a PostgreSQL server for the tests, as a user without privileges, on a Unix socket."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import programs
import psycopg
from limits import LONG, wait_until

from server.deploy import Settings, made
from server.store import Store
from server.store.places import Address

#: What deniable has operators set, as `NAME=VALUE`.
ADVISED = re.findall(
    r"-c, (\w+=[^],\s]+)", made("compose-postgres", Settings("survey.example.org"))["compose.yaml"]
)
#: How to run a server as another user than root, which it refuses.
_AS = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


class Cluster:
    """A server with databases in a folder of its own; `options` are set as `-c NAME=VALUE`."""

    def __init__(self, *options: str, advised: Sequence[str] = ADVISED) -> None:
        found = programs.find("postgresql")
        assert found is not None
        self._programs = Path(found).parent
        self._options = [*advised, *options]
        self._as = _AS if os.geteuid() == 0 else []
        # Not in pytest's folder: the name of a socket has at most 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        if self._as:
            shutil.chown(self.folder, "postgres", "postgres")
        self._numbers = count(1)
        self._run("initdb", "--pgdata", self._data, "--username", "deniable", "--auth", "trust",
                  "--encoding", "UTF8", "--locale", "C", "--no-sync")  # fmt: skip
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *arguments: object) -> None:
        call = [*self._as, str(self._programs / program), *map(str, arguments)]
        subprocess.run(call, check=True, capture_output=True, timeout=LONG, cwd=self.folder)

    def start(self) -> None:
        """Start the server, also after it was killed, and wait until it answers."""
        settings = [
            "listen_addresses=",
            "shared_buffers=32MB",
            # Nothing of it is needed after a power failure.
            "checkpoint_timeout=1d",
            "max_wal_size=8GB",
            *self._options,
        ]
        call = [*self._as, str(self._programs / "postgres"), "-D", str(self._data)]
        call += ["-k", str(self.folder)]
        call += [word for one in settings for word in ("-c", one)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(call, stdout=log, stderr=log, cwd=self.folder)
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.address("postgres").text).close()
        except psycopg.OperationalError:
            assert self.process.poll() is None, self.log()
            return False
        return True

    def log(self) -> str:
        """Return what the server wrote into its log."""
        return (self.folder / "log").read_text()

    def address(self, name: str) -> Address:
        """Return the address of a database."""
        return Address(f"postgresql://deniable@/{name}?host={self.folder}")

    def new(self) -> Address:
        """Return the address of a new database without tables."""
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.address("postgres").text, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def lose(self, store: Store) -> None:
        """End all sessions of a store's database, as if its collectors' machines were gone."""
        store.database.leave()
        with psycopg.connect(store.database.address, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def kill(self) -> None:
        """Send SIGKILL to the server; its other processes end when they notice."""
        self.process.kill()
        self.process.wait(LONG)
        # The server would refuse to start while one of them runs.
        wait_until(lambda: not self._left())

    def _left(self) -> list[Path]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink() == self._data:
                    found.append(process)
            except OSError:
                continue
        return found

    def stop(self) -> None:
        """Stop the server, and delete all of it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed again
            self.process.wait(LONG)
        shutil.rmtree(self.folder)


@contextmanager
def cluster(*options: str, advised: Sequence[str] = ADVISED) -> Iterator[Cluster]:
    """Run a server until the block ends."""
    one = Cluster(*options, advised=advised)
    try:
        yield one
    finally:
        one.stop()
