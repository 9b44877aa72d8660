"""Answers that are kept in memory, for a minute, for whoever sends the same form again."""

import threading
import time
from collections.abc import Iterator
from typing import Generic, TypeVar

#: Seconds for which an answer is kept, how many answers are, and how many of one owner.
KEPT_FOR, MOST_ANSWERS, MOST_OF_ONE = 60.0, 100, 10

Answer = TypeVar("Answer")


class KeptAnswers(Generic[Answer]):
    """The answers to forms, each with when it was kept and whose it is, by the form's key."""

    def __init__(self) -> None:
        self._answers: dict[bytes, tuple[float, str, Answer]] = {}
        self._keeping = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[bytes]:
        return iter([*self._answers])

    def clear(self) -> None:
        """Forget all answers."""
        with self._keeping:
            self._answers.clear()

    def get(self, key: bytes) -> Answer | None:
        """Return the answer to a form; None if it is not kept, or no longer."""
        at, _, answer = self._answers.get(key, (0.0, "", None))
        return None if answer is None or time.monotonic() >= at + KEPT_FOR else answer

    def keep(self, key: bytes, answer: Answer, owner: str) -> None:
        """Keep an answer, and drop old ones; an owner's own go first, so nobody else's are lost."""
        at = time.monotonic()
        with self._keeping:
            own = [old for old, (_, who, _) in self._answers.items() if who == owner]
            for old in own[: len(own) + 1 - MOST_OF_ONE]:
                del self._answers[old]
            self._answers[key] = at, owner, answer
            for old, (then, *_) in list(self._answers.items()):
                if then < at - KEPT_FOR or len(self._answers) > MOST_ANSWERS:
                    del self._answers[old]
