"""Requests that anybody can send take a part of a process's time, and no more."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from limits import MOMENT, wait_until

from server.explore.allowance import Allowance


def test_time_is_gained_by_a_part_and_a_debt_is_paid_first() -> None:
    now = [0.0]
    allowance = Allowance(share=0.1, saved=1.0, clock=lambda: now[0])
    assert allowance.compute(lambda: "made") == "made"
    allowance._left = -0.5
    assert allowance.compute(lambda: "made") is None
    assert allowance.compute(lambda: "made", is_free=True) == "made"
    now[0] = 4.9
    assert allowance.compute(lambda: "made") is None
    now[0] = 5.2
    assert allowance.compute(lambda: "made") == "made"


def test_an_error_gives_back_the_turn() -> None:
    allowance = Allowance()
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            allowance.compute(lambda: 1 // 0)
    assert allowance.compute(lambda: "made") == "made"


def test_only_few_wait_except_for_the_first_answers() -> None:
    begun, go = threading.Event(), threading.Event()
    allowance = Allowance(patience=MOMENT)

    def slow() -> str:
        begun.set()
        go.wait(MOMENT)
        return "made"

    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(allowance.compute, slow)
        begun.wait(MOMENT)
        waiting = [pool.submit(allowance.compute, lambda: "made") for _ in range(5)]
        # Three of five find no place; those that have one wait for the first.
        wait_until(lambda: sum(one.done() for one in waiting) == 3)
        free = pool.submit(allowance.compute, lambda: "made", True)
        assert not free.done()
        go.set()
        results = [one.result() for one in waiting]
        assert (first.result(), free.result()) == ("made", "made")
    assert sorted(map(str, results)) == ["None", "None", "None", "made", "made"]
