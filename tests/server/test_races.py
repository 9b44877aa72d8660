"""Under concurrency, ids, invitations and batches end as if requests had come one by one."""

import fcntl
import math
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

from analysis.core.channels.window import Window
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake import writer
from server.intake.decision import Waiting
from server.intake.invitations import ISSUER
from server.intake.requests import check
from server.intake.wire import Refusal, Submission
from server.intake.writer import Writer
from server.store import Place, Store
from server.store.file import File

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from limits import LONG, wait_until
from load import (
    Server,
    check_books,
    column,
    invited,
    post_until_taken,
    submissions,
    take,
)
from racing import racing, run_all

pytestmark = pytest.mark.both


@pytest.fixture
def closed_file(survey_file: Path) -> Path:
    """Return the survey for people with an invitation."""
    path = survey_file.with_name("invited.toml")
    text = survey_file.read_text().replace('id = "canteen"', 'id = "invited"\naccess = "invited"')
    path.write_text(text)
    return path


@pytest.mark.more
def test_each_of_many_equal_requests_at_once_is_stored_and_charged_once(
    survey: Survey, survey_file: Path, database: Place
) -> None:
    sent = [one for one in islice(submissions(survey), 80) for _ in range(6)]
    with Server(database, survey_file) as server:
        path, bodies = f"/api/surveys/{survey.id}/reports", [body for _, body in sent]
        answers = post_until_taken(server.url, path, bodies)
        got: dict[bytes, Counter[int]] = {rid: Counter() for rid, _ in sent}
        for (rid, _), answer in zip(sent, answers, strict=True):
            got[rid][answer.status] += 1
        # On a busy machine, a report that is refused for now may be stored before it is sent again.
        assert all(one[201] <= 1 and one[200] == 6 - one[201] for one in got.values())
        check_books(database, survey, set(got))
    assert len(column(database, "SELECT rid FROM report")) == 80


@pytest.mark.more
def test_four_processes_that_race_for_invitations_use_each_once(
    closed_file: Path, database: Place, tmp_path: Path
) -> None:
    survey = read_survey(closed_file)
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    tokens = [ISSUER.issue() for _ in range(200)]
    store.invitations.add(survey.id, 1, map(ISSUER.key, tokens))
    context = racing()
    start = context.Barrier(4)
    results = [tmp_path / f"{seed}.txt" for seed in range(4)]
    racers = [
        context.Process(target=take, args=(database, closed_file, tokens, start, seed, to))
        for seed, to in enumerate(results)
    ]
    run_all(racers)
    outcomes = [Counter(to.read_text().split()) for to in results]
    assert sum(outcomes, Counter()) == {"201": 200, "invitation": 600}
    # They did race: nobody was done before another began.
    assert all(0 < one["201"] < 200 for one in outcomes)
    assert store.invitations.counts(survey.id) == {1: (200, 200)}
    check_books(database, survey, set())
    assert store.reports.kept(survey.id, 1) == 200


@pytest.mark.more
def test_invitations_are_used_once_over_two_workers(closed_file: Path, database: Place) -> None:
    survey = read_survey(closed_file)
    tokens = [ISSUER.issue() for _ in range(60)]
    with Server(database, closed_file) as server:
        store = Store(database)
        store.invitations.add(survey.id, 1, map(ISSUER.key, tokens))
        bodies = list(invited(survey, [token for token in tokens for _ in range(4)]))
        answers = post_until_taken(server.url, f"/api/surveys/{survey.id}/reports", bodies)
        # On a busy machine, a report that is refused for now may be stored before it is sent again.
        taken = Counter(one.status in (200, 201) for one in answers)
        assert taken == {True: 60, False: 180}
        assert {one.status for one in answers} <= {200, 201, 403}
        assert store.invitations.counts(survey.id) == {1: (60, 60)}
        check_books(database, survey, set())
        store.close()


@pytest.mark.sqlite
def test_a_submission_that_breaks_the_store_fails_alone(
    store: Store, survey: Survey, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []

    class Watched(Store):
        def add_waiting(
            self, waiting: Waiting, today: date, simulated: bool = False
        ) -> Sequence[Refusal | int]:
            def counted() -> Iterator[Submission]:
                for one in waiting():
                    batches[-1] += 1
                    yield one

            batches.append(0)
            return super().add_waiting(counted, today, simulated)

    read_many = Window.read_many

    def fragile(self: Window, sent: list[int]) -> NDArray[Any]:
        if 2 in sent and self.inputs == 3:
            raise RuntimeError("a fault of its own")
        return read_many(self, sent)

    monkeypatch.setattr(Window, "read_many", fragile)
    checked = [check(store, survey.id, body) for _, body in islice(submissions(survey), 400)]
    breaks = [one for one in checked if one.reports["meat"] == 2][:1]
    good = [one for one in checked if one.reports["meat"] != 2][:30]
    assert breaks
    # However long it takes until all are in the queue, none is refused.
    monkeypatch.setattr(writer, "STUCK", math.inf)
    monkeypatch.setattr(writer, "PATIENCE", LONG)
    monkeypatch.setattr(File, "LOCK_PATIENCE", LONG)
    ours = Writer(Watched(database), date.today)
    results: dict[bytes, object] = {}

    def put(one: Submission) -> None:
        try:
            results[one.rid] = ours.put(one)
        except RuntimeError as error:
            results[one.rid] = str(error)

    order = [*good[:15], *breaks, *good[15:]]
    clients = [threading.Thread(target=put, args=(one,)) for one in order]
    with open(f"{database}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for one in clients:
            one.start()
        wait_until(lambda: ours._queue.qsize() == 30)
    for one in clients:
        one.join(LONG)
    assert max(batches) >= 2  # the fault came after others of its batch
    assert len(batches) == 1 + len(order)
    assert results.pop(breaks[0].rid) == "a fault of its own"
    assert results == dict.fromkeys((one.rid for one in good), 201)
    check_books(database, survey, set(results))
    assert len(column(database, "SELECT rid FROM report")) == 30
    # Its thread goes on.
    assert ours.put(good[0]) == 200
