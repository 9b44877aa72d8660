"""Two collectors on one PostgreSQL database: kills of each and of the database, and races."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.clock import today
from server.store import Store
from server.store.places import Address

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

import postgres
import programs
from limits import wait_until
from load import Load, Server, check_books, column, get, post_until_taken, submissions

pytestmark = pytest.mark.more

#: How many reports must be acknowledged while all are killed in turn, and how often each is killed.
ACKNOWLEDGED = int(os.environ.get("DENIABLE_ACKNOWLEDGED", "1500"))
KILLS = int(os.environ.get("DENIABLE_KILLS", "1"))


@dataclass
class Collectors:
    """A PostgreSQL server, one of its databases, and two collectors that share it."""

    cluster: postgres.Cluster
    address: Address
    servers: list[Server]


@pytest.fixture(scope="module")
def collectors(tmp_path_factory: pytest.TempPathFactory, survey_text: str) -> Iterator[Collectors]:
    """Run two collectors of the survey, whose first wave is open, for all of these tests."""
    file = tmp_path_factory.mktemp("collectors") / "canteen.toml"
    file.write_text(survey_text)
    survey = read_survey(file)
    if programs.find("postgresql") is None:
        pytest.skip("no PostgreSQL is installed: python tests/programs.py postgresql")
    with ExitStack() as stack:
        cluster = stack.enter_context(postgres.cluster())
        address = cluster.new()
        store = Store(address, create=True)
        store.surveys.publish(survey)
        store.surveys.open_wave(survey.id)
        store.close()
        one = Collectors(cluster, address, [Server(address), Server(address)])
        yield one
        for server in one.servers:
            stack.enter_context(server)


def test_kills_of_collectors_and_database_lose_and_double_nothing(
    collectors: Collectors, survey: Survey
) -> None:
    earlier = set(column(collectors.address, "SELECT rid FROM report"))
    loads = [Load(survey, server.url, clients=12) for server in collectors.servers]
    share = ACKNOWLEDGED // (3 * KILLS + 1)

    def gather(more: int) -> None:
        goal = sum(len(load.acknowledged()) for load in loads) + more
        wait_until(lambda: sum(len(load.acknowledged()) for load in loads) >= goal)

    with loads[0], loads[1]:
        for number in range(3 * KILLS):
            gather(share)
            which = number % 3
            if which == 2:
                collectors.cluster.kill()
                collectors.cluster.start()
            else:
                collectors.servers[which].kill()
                collectors.servers[which] = Server(collectors.address)
                loads[which].url = collectors.servers[which].url
        gather(ACKNOWLEDGED - 3 * KILLS * share)
    before = loads[0].acknowledged() | loads[1].acknowledged()
    assert len(before) >= ACKNOWLEDGED
    for load in loads:
        assert set(load.retry()) <= {200, 201}
    check_books(collectors.address, survey, loads[0].acknowledged() | loads[1].acknowledged())
    everybody = {*loads[0].sent, *loads[1].sent}
    assert set(column(collectors.address, "SELECT rid FROM report")) - earlier == everybody


def test_of_two_collectors_one_stores_a_report_that_is_sent_to_both(
    collectors: Collectors, survey: Survey
) -> None:
    sent = dict(islice(submissions(survey), 200))
    bodies = list(sent.values())
    path = f"/api/surveys/{survey.id}/reports"
    with ThreadPoolExecutor(2) as pool:
        both = list(
            pool.map(lambda server: post_until_taken(server.url, path, bodies), collectors.servers)
        )
    statuses = Counter(
        tuple(sorted(one.status for one in pair)) for pair in zip(*both, strict=True)
    )
    # On a busy machine, a report that is refused for now may be stored before it is sent again.
    assert set(statuses) <= {(200, 201), (200, 200)}
    check_books(collectors.address, survey, set(sent))


def test_respondents_with_room_for_one_wave_get_one_over_both_collectors(
    collectors: Collectors, survey_file: Path
) -> None:
    text = survey_file.read_text()
    survey_file.write_text(
        text.replace('"canteen"', '"tight"', 1).replace("cap = 12.0", "cap = 4.0")
    )
    survey = read_survey(survey_file)
    assert survey.charge == survey.cap  # room for one wave
    store = Store(collectors.address)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    sent = [[json.loads(body) for _, body in islice(submissions(survey), 100)] for _ in range(2)]
    for first, second in zip(*sent, strict=True):
        second["respondent"] = first["respondent"]  # other reports of the same people
    path = f"/api/surveys/{survey.id}/reports"

    def send(which: int) -> list[int]:
        bodies = [json.dumps(one).encode() for one in sent[which]]
        answers = post_until_taken(collectors.servers[which].url, path, bodies)
        return [one.status for one in answers]

    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(send, range(2)))
    for pair in zip(*taken, strict=True):
        assert sorted(one in (200, 201) for one in pair) == [False, True]
        assert set(pair) <= {200, 201, 409}
    assert store.reports.kept(survey.id, 1) == 100
    assert {one.charged for one in store.ledger.spends(survey.id)} == {survey.cap}
    assert list(store.upkeep.discrepancies(today())) == []
    store.close()


def test_pages_ask_to_try_again_while_the_database_is_away(collectors: Collectors) -> None:
    url = collectors.servers[0].url
    assert get(url, "/s/canteen").status == 200
    collectors.cluster.kill()
    for path in ("/s/canteen", "/results/canteen"):
        away = get(url, path)
        assert (away.status, bool(away.headers["retry-after"])) == (503, True), path
    collectors.cluster.start()
    assert get(url, "/s/canteen").status == 200


def test_workers_that_start_while_the_database_is_away_wait_for_it(collectors: Collectors) -> None:
    server = collectors.servers[0]
    assert get(server.url, "/s/canteen").status == 200
    told = server.stderr.read_text().count("while starting")
    collectors.cluster.kill()
    for pid in server.below():
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: server.stderr.read_text().count("while starting") > told)
    collectors.cluster.start()

    def answers() -> bool:
        with suppress(OSError):
            return get(server.url, "/s/canteen").status == 200
        return False

    wait_until(answers)
