"""How much of its time a process spends on what anybody can ask for.

`/explore` is served by the processes that take in reports. So computing for it is limited to a part
of their time: whoever asks for ever new numbers gets a sentence instead of them.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

#: The part of a process's time, the seconds of it that can be saved up, the requests that may wait
#: for another to be computed, and for how many seconds.
SHARE, SAVED, WAITING, PATIENCE = 0.1, 4.0, 2, 2.0


class Allowance:
    """Seconds of computing time, which grow by a part of the time that passes.

    One thread computes at a time. A piece that has begun is finished, and may leave a debt.
    """

    def __init__(
        self,
        share: float = SHARE,
        saved: float = SAVED,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._share, self._most, self._patience, self._clock = share, saved, patience, clock
        self._left, self._at = saved, clock()
        self._places = threading.BoundedSemaphore(1 + WAITING)
        self._turn = threading.Lock()

    def compute(self, make: Callable[[], _T], is_free: bool = False) -> _T | None:
        """Return what `make` gives; None if there is no time left for it, or too many wait.

        If `is_free`, it is computed even if no time is left, and however many wait. Its time
        counts all the same.
        """
        has_place = self._places.acquire(blocking=False)
        if not has_place and not is_free:
            return None
        try:
            if not self._turn.acquire(timeout=self._patience):
                return None
            try:
                now = self._clock()
                self._left = min(self._most, self._left + self._share * (now - self._at))
                self._at = now
                if self._left <= 0 and not is_free:
                    return None
                begun = time.thread_time()
                try:
                    return make()
                finally:
                    self._left -= time.thread_time() - begun
            finally:
                self._turn.release()
        finally:
            if has_place:
                self._places.release()
