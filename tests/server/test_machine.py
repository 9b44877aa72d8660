"""Whatever happens in whatever order, each submission is stored, charged and tallied once or never.

After the simulation of divviup/janus: every submission carries a measurement that no other has, so
that a 2 anywhere in a tally proves that one was counted twice.
"""

import sys
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.clock import today
from server.intake.invitations import ISSUER
from server.intake.requests import check
from server.intake.wire import STATUS, Refusal
from server.store import Place, Store

# The tests are not a package, so that none of their names can hide one of the application's.
sys.path.insert(0, str(Path(__file__).parent))

from machine_model import TOKENS, Model, Sent

SURVEY = """
title = "Machine"
id = "machine"
access = "{access}"
[privacy]
cap = {cap}
[[questions]]
id = "unique"
kind = "choice"
text = "?"
options = [{options}]
required = true
mechanism = "krr"
epsilon = 1
"""
#: There are more reports than a run has submissions.
OPTIONS = ", ".join(f'{{id = "{one}", text = "{one}"}}' for one in range(200))
#: Access and cap of the versions that are published again and again, in any order.
ALL_OPEN = (("open", 2.5), ("open", 3.5), ("open", 4.5))
INVITED = (("invited", 2.5), ("invited", 4.5), ("open", 3.5))
WAVES, PEOPLE = (1, 2), tuple(letters * 16 for letters in ("aa", "bb", "cc", "dd", "ee"))


ANSWER = st.tuples(
    st.integers(0, 2),
    st.sampled_from(WAVES),
    st.sampled_from(PEOPLE),
    st.sampled_from(TOKENS),
    st.sampled_from([False, False, False, True]),
)
ANSWERS = st.lists(ANSWER, min_size=1, max_size=4)


class Pulled(BaseException):
    """The connection was lost."""


class Unplugged:
    """A connection that is lost after this many statements, at the latest instead of a COMMIT."""

    in_transaction = False  # nobody is there to roll back

    def __init__(self, connection: Any, left: int) -> None:
        self._connection, self._left = connection, left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *values: Any) -> Any:
        self._count(sql)
        return self._connection.execute(sql, *values)

    def executemany(self, sql: str, *values: Any) -> Any:
        self._count(sql)
        return self._connection.executemany(sql, *values)

    def commit(self) -> None:
        raise Pulled

    def rollback(self) -> None:
        """Do nothing, since nobody is there to roll back."""

    def _count(self, sql: str) -> None:
        self._left -= 1
        if self._left < 0 or sql == "COMMIT":
            raise Pulled


class Machine(RuleBasedStateMachine):
    """A collector, its devices and its operator."""

    folder: ClassVar[Path]
    new_place: ClassVar[Callable[[Path], Place]]
    lose: ClassVar[Callable[[Store], object]]
    versions: ClassVar[dict[str, Survey]]
    numbers: ClassVar["count[int]"] = count()
    submissions = Bundle("submissions")
    backups = Bundle("backups")

    @initialize(order=st.permutations(range(3)))
    def begin(self, order: list[int]) -> None:
        self.symbols, self.model = count(), Model()
        self.sent: list[Sent] = []
        #: Submissions that were told to be stored, and those that could not hear it.
        self.told: set[str] = set()
        self.unheard: set[str] = set()
        self.place = Machine.new_place(self.new_path())
        Store(self.place, create=True).close()
        self.start()
        for version in order:
            self.publish(version)
        self.open({1, 2})
        for wave in WAVES:
            self.store.invitations.add("machine", wave, map(ISSUER.key, TOKENS))

    def new_path(self) -> Path:
        return self.folder / f"{next(self.numbers)}.db"

    @rule()
    def restart(self) -> None:
        """End the process without closing anything, and start another one on the same database."""
        self.teardown()
        self.start()

    def teardown(self) -> None:
        Machine.lose(self.store)

    def start(self) -> None:
        app = create_app({"DATABASE": self.place})
        self.client, self.store = app.test_client(), app.extensions["store"]

    # Devices

    def drawn(self, answers: list[tuple[int, int, str, str, bool]]) -> list[Sent]:
        """Draw a new submission; odd devices forget their invitation, or show one unasked."""
        found = []
        for version, wave, person, token, odd in answers:
            survey, symbol = list(self.versions.values())[version], next(self.symbols)
            given = token if (survey.access == "invited") != odd else None
            found.append(Sent(survey.version, wave, f"{symbol:032x}", person, symbol, given))
        return found

    @rule(target=submissions, answers=ANSWERS, heard=st.booleans())
    def answer(self, answers: list[Any], heard: bool) -> Any:
        return multiple(*(self.send(one, heard) for one in self.drawn(answers)))

    @rule(one=submissions, heard=st.booleans())
    def repeat(self, one: Sent, heard: bool) -> None:
        """Send the same bytes again."""
        self.send(one, heard)

    def send(self, one: Sent, heard: bool = True) -> Sent:
        """Send a submission over HTTP, as a device does; its answer may be lost."""
        self.sent.append(one)
        expected = self.model.add(one, self.versions)
        response = self.client.post(
            "/api/surveys/machine/reports", data=one.body, content_type="application/json"
        )
        assert response.status_code == STATUS.get(str(expected), expected)
        if isinstance(expected, str):
            assert response.get_json()["type"] == f"urn:deniable:problem:{expected}"
        else:
            (self.told if heard else self.unheard).add(one.rid)
        return one

    @rule(
        target=submissions,
        one=submissions,
        person=st.sampled_from(PEOPLE),
        token=st.sampled_from([None, *TOKENS]),
    )
    def pretend(self, one: Sent, person: str, token: str | None) -> Sent:
        """Send the same reports as somebody else."""
        return self.send(replace(one, respondent=person, token=token))

    @rule(target=submissions, one=submissions)
    def change(self, one: Sent) -> Sent:
        """Send other reports under an id that may be in use."""
        return self.send(replace(one, symbol=next(self.symbols)))

    @rule(target=submissions, answers=ANSWERS, twins=st.booleans())
    def send_together(self, answers: list[Any], twins: bool) -> Any:
        """Send some in one transaction; twins have one id, with one report or two, or one token."""
        batch = self.drawn(answers)
        if twins:
            other = next(self.symbols)
            batch += [batch[0], replace(batch[0], symbol=other)]
            batch += [replace(batch[0], symbol=other, rid=f"{other:032x}")]
        self.sent += batch
        known = [one for one in batch if one.version in self.model.published]
        expected = [self.model.add(one, self.versions) for one in known]
        results = self.store.add([self.checked(one) for one in known], today())
        assert [one.word if isinstance(one, Refusal) else one for one in results] == expected
        self.told |= {one.rid for one, n in zip(known, expected, strict=True) if n in (200, 201)}
        return multiple(*batch)

    def checked(self, one: Sent) -> Any:
        return check(self.store, "machine", one.body)

    @rule(target=submissions, answers=ANSWERS, left=st.integers(4, 16))
    def crash(self, answers: list[Any], left: int) -> Any:
        """Lose the connection within a transaction; some try again."""
        batch = self.drawn(answers)
        known = [self.checked(one) for one in batch if one.version in self.model.published]
        lost, own = self.store.database.connection, vars(self.store.database._local)
        own.update({name: Unplugged(lost, left) for name, one in own.items() if one is lost})
        with pytest.raises(Pulled):
            self.store.add(known, today())
        getattr(lost, "raw", lost).close()  # a PostgreSQL session wraps a connection
        self.restart()
        return multiple(*batch)

    # The operator

    @rule(version=st.integers(0, 2))
    def publish(self, version: int) -> None:
        survey = list(self.versions.values())[version]
        self.store.surveys.publish(survey)
        self.model.published.append(survey.version)

    @rule(waves=st.sampled_from([{1}, {2}, {1, 2}, {1, 2}, set()]))
    def open(self, waves: set[int]) -> None:
        """Close waves, and open others; the command line opens a wave and closes the others."""
        for wave in waves:
            self.store.surveys.open_wave("machine", wave, alone=len(waves) == 1)
        for wave in {1, 2} - waves:
            closed = self.store.surveys.close_waves("machine", wave)
            assert closed == [wave] * (not waves and wave in self.model.opened)
        self.model.opened = waves

    @rule(whole=st.booleans())
    def tidy(self, whole: bool) -> None:
        if whole:
            self.store.database.rewrite()
        else:
            self.store.database.settle()

    @rule(target=backups)
    def back_up(self) -> tuple[Path, Model]:
        path = self.new_path()
        self.store.copy_to(path)
        return path, deepcopy(self.model)

    @rule(backup=backups)
    def restore(self, backup: tuple[Path, Model]) -> None:
        """Go on with an older state, and have all devices send again what it may lack."""
        self.place = Machine.new_place(self.new_path())
        Store(backup[0]).copy_to(self.place)
        self.model = deepcopy(backup[1])
        self.restart()
        self.told &= set(self.model.stored)
        self.unheard &= set(self.model.stored)
        again, self.sent = self.sent, []
        for one in again:
            self.send(one)

    @rule(target=submissions, answers=ANSWERS)
    def lose_the_disk(self, answers: list[Any]) -> Any:
        """Answer after a backup, and restore it, so that the answer is lost."""
        backup = self.back_up()
        sent = self.answer(answers, True)
        self.restore(backup)
        return sent

    # What always holds

    @invariant()
    def everything_is_counted_once(self) -> None:
        charges: Counter[tuple[str, str]] = Counter()
        for one in self.model.stored.values():
            charges[one.respondent, self.versions[one.version].terms] += 1
        for version in {*self.model.published}:
            survey = self.versions[version]
            for wave in WAVES:
                symbols = {one.symbol for one in self.rows(version, wave)}
                (tally,) = self.store.reports.tallies(survey, wave).values()
                assert tally.max() <= 1
                assert set(tally.nonzero()[1]) == symbols
                kept = [
                    payload["unique"]
                    for payload in chain(*self.store.reports.payloads(survey, wave))
                ]
                assert sorted(kept) == sorted(symbols)
        spends = self.store.ledger.spends("machine")
        assert charges == {(one.respondent, one.terms): one.submissions for one in spends}
        by_terms = {survey.terms: survey for survey in self.versions.values()}
        for one in spends:
            assert one.charged == one.submissions * by_terms[one.terms].charge
        assert list(self.store.upkeep.discrepancies(today())) == []

    def rows(self, version: str, wave: int) -> list[Sent]:
        rows = self.model.stored.values()
        return [one for one in rows if (one.version, one.wave) == (version, wave)]

    @invariant()
    def what_was_acknowledged_is_stored_and_nothing_else(self) -> None:
        assert self.told <= set(self.model.stored)
        assert set(self.model.stored) == self.told | self.unheard
        stored = sum(self.store.reports.kept("machine", wave) for wave in WAVES)
        assert stored == len(self.model.stored)

    @invariant()
    def nobody_spends_more_than_they_were_promised(self) -> None:
        spends = self.store.ledger.spends("machine")
        for person in PEOPLE:
            own = [one for one in spends if one.respondent == person]
            by_terms = {survey.terms: survey for survey in self.versions.values()}
            caps = [by_terms[one.terms].cap for one in own]
            assert sum(one.charged for one in own) <= min(caps, default=0)

    @invariant()
    def each_invitation_is_used_once_at_most(self) -> None:
        redeemed = Counter(
            (one.wave, one.token) for one in self.model.stored.values() if one.token is not None
        )
        assert not redeemed or max(redeemed.values()) == 1
        used = Counter(wave for wave, _ in redeemed)
        found = self.store.invitations.counts("machine")
        assert found == {wave: (len(TOKENS), used[wave]) for wave in WAVES}


@pytest.mark.parametrize(
    ("kinds", "histories", "shared"),
    [
        pytest.param(INVITED, 5, False, id="invited"),
        pytest.param(INVITED, 25, False, id="invited-often", marks=pytest.mark.more),
        pytest.param(ALL_OPEN, 25, False, id="open", marks=pytest.mark.more),
        pytest.param(INVITED, 6, True, id="postgresql", marks=pytest.mark.more),
    ],
)
def test_each_submission_counts_once_or_never(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    kinds: tuple[tuple[str, float], ...],
    histories: int,
    shared: bool,
) -> None:
    Machine.new_place, Machine.lose = lambda path: path, lambda _: None
    if shared:
        cluster = request.getfixturevalue("cluster")
        Machine.new_place, Machine.lose = lambda _: cluster.new(), cluster.lose
    file = tmp_path / "machine.toml"
    Machine.folder, Machine.versions = tmp_path, {}
    for access, cap in kinds:
        file.write_text(SURVEY.format(access=access, cap=cap, options=OPTIONS))
        survey = read_survey(file)
        Machine.versions[survey.version] = survey
    assert len(Machine.versions) == 3
    steps = settings(stateful_step_count=30, deadline=None, derandomize=True)
    run_state_machine_as_test(Machine, settings=settings(steps, max_examples=histories))
