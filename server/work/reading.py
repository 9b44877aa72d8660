"""Read files from others in a separate process, under limits of CPU and memory.

A file that costs more than it should ends the process that reads it, and nothing else. A second
process, which has imported what readers need, starts one for each file. It ends with the process
that started it, or when nobody has sent a file for a while.
"""

import atexit
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from analysis.core.errors import SurveyError
from server import failures
from server.editing.draft_file import DraftFile, free_id
from server.editing.draft_view import STUDY
from server.editing.reading import check_size, read_new
from server.forms import Imported, Wanted, read_form

#: Seconds of CPU, bytes of memory beside what the process begins with, and seconds on a busy
#: machine that reading the files of one request may take.
SECONDS, MEMORY, LONGEST = 20, 1 << 30, 120
#: The most requests of this process that wait while the files of another request are read.
MOST_REQUESTS_WAITING = 4
#: The program that waits for files.
COMMAND = [sys.executable, "-P", "-m", "server.work.reading"]
#: Seconds without files after which the process that waits for them ends.
_IDLE = 600
#: The status with which a reader ends that gets no more memory.
_NO_MEMORY = 3
_LENGTH = struct.Struct("!Q")


def imported(content: bytes, name: str, tool: str | None, wanted: Wanted | None = None) -> Imported:
    """Return what `server.forms.read_form` returns, read under limits.

    Raises
    ------
    SurveyError
        If it is no questionnaire, or takes too much time or memory.
    """
    found: Imported = _read("imported", name, content, name, tool, wanted)
    return found


def with_free_id(toml: str, taken: Sequence[str], name: str) -> tuple[str, str]:
    """Return the file of an imported survey with an id that is not taken, and this id."""
    file: tuple[str, str] = _read("with_free_id", name, toml, taken)
    return file


def draft(toml: str, files: Mapping[str, bytes], name: str) -> tuple[str, str]:
    """Return a survey file so that it can be edited, and its id, after it was read with its files.

    Errors are those of `imported`, and of `server.editing.reading.read_new`.
    """
    file: tuple[str, str] = _read("draft", name, toml, dict(files))
    return file


def _with_free_id(toml: str, taken: Sequence[str]) -> tuple[str, str]:
    file = DraftFile(toml)
    survey_id = free_id(str(file.data(STUDY)["id"]), taken)
    file.put(STUDY, "id", survey_id)
    check_size(file.toml)
    return file.toml, survey_id


def _draft(toml: str, files: Mapping[str, bytes]) -> tuple[str, str]:
    read_new(toml, files)
    file = DraftFile(toml)
    return file.toml, str(file.data(STUDY)["id"])


_READERS: dict[str, Callable[..., Any]] = {
    "imported": read_form,
    "with_free_id": _with_free_id,
    "draft": _draft,
}

_ONE_AT_A_TIME, _WAITING = threading.Lock(), threading.BoundedSemaphore(1 + MOST_REQUESTS_WAITING)
_PROCESS: "list[subprocess.Popen[bytes]]" = []


@atexit.register
def stop() -> None:
    """End the process that waits for files, if there is one."""
    while _PROCESS:
        process = _PROCESS.pop()
        process.kill()
        process.communicate()


def _read(reader: str, name: str, *given: Any) -> Any:
    if not _WAITING.acquire(blocking=False):
        raise SurveyError(f"{name}: other files are being read; try again in a minute")
    try:
        with _ONE_AT_A_TIME:
            kind, result = _asked((reader, given))
    finally:
        _WAITING.release()
    if kind == "read":
        return result
    if kind == "refused":
        raise result
    messages = {
        "time": f"it took more than {SECONDS} seconds to read, and was given up",
        "ended": "the process that reads files ended; try again",
        "killed": "the system ended the process that read it, perhaps for want of memory",
        "memory": f"it took more than {MEMORY >> 30} GiB of memory to read, and was given up",
    }
    raise SurveyError(f"{name}: {messages.get(kind, 'it cannot be read; the log says where')}")


def _asked(to_read: tuple[str, Any]) -> tuple[str, Any]:
    if not _PROCESS or _PROCESS[0].poll() is not None:
        stop()
        _PROCESS.append(subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    sender, receiver = _PROCESS[0].stdin, _PROCESS[0].stdout
    assert sender is not None
    assert receiver is not None
    try:
        _send(sender, pickle.dumps(to_read))
        answer: tuple[str, Any] = pickle.loads(_received(receiver))
    except (OSError, EOFError):
        stop()
        return "ended", None
    except BaseException:
        stop()  # or the next request would read the rest of this answer
        raise
    return answer


def _send(to: IO[bytes], content: bytes) -> None:
    to.write(_LENGTH.pack(len(content)) + content)
    to.flush()


def _received(source: IO[bytes]) -> bytes:
    """Return a message; raise EOFError if there is none any more."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    content = source.read(length)
    if len(content) < length:
        raise EOFError
    return content


def main() -> None:
    """Wait for files, and start a process for those of each request."""
    os.nice(5)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # openpyxl prints which styles a workbook lacks
    while select.select([sys.stdin.buffer], [], [], _IDLE)[0]:
        try:
            what = _received(sys.stdin.buffer)
        except EOFError:
            return
        _send(answers, _limited(what))


def _limited(what: bytes) -> bytes:
    """Return the answer of a process with limits, or why it has none."""
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        os.close(receiver)
        code = 1
        try:
            code = _answer(what, sender)
        finally:
            os._exit(code)
    os.close(sender)
    with os.fdopen(receiver, "rb") as source:
        answer = source.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return answer
    if status in (-signal.SIGXCPU, -signal.SIGALRM):
        return pickle.dumps(("time", None))
    reasons = {_NO_MEMORY: "memory", -signal.SIGKILL: "killed"}
    return pickle.dumps((reasons.get(status, "failed"), None))


def _answer(what: bytes, to: int) -> int:
    """Read files and write the answer, in a process that ends then."""
    signal.alarm(LONGEST)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_size() + MEMORY, resource.RLIM_INFINITY))
    try:
        reader, given = pickle.loads(what)
        answer = pickle.dumps(("read", _READERS[reader](*given)))
    except ValueError as error:
        answer = pickle.dumps(("refused", error))
    except MemoryError:
        return _NO_MEMORY
    except Exception as error:
        failures.log(error, " while reading a file")
        answer = pickle.dumps(("failed", None))
    with os.fdopen(to, "wb") as out:
        out.write(answer)
    return 0


def _size() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    main()
