"""Check decisions about a batch of submissions, clause by clause, without a database."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from analysis.survey.batches import Cell, Steps
from analysis.survey.freeze import freeze
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake.decision import WHOLE, Asked, CellChange, Decision, Key, Known, Spent, decide
from server.intake.wire import Refusal, Submission

TODAY = date(2026, 3, 1)
ADA, BOB = b"a" * 16, b"b" * 16
#: Millionths of ε: the cost of each report, and the cap.
CHARGE, CAP = 100_000, 300_000


HEAD = """
title = "Tenths"
id = "tenths"
[privacy]
cap = {}
[[questions]]
id = "a"
text = "A?"
required = true
"""


def read(question: str, cap: float) -> Survey:
    """Return a survey of one question from the text of a file."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "tenths.toml"
        file.write_text(HEAD.format(cap) + question)
        return read_survey(file)


@cache
def tenths(cap: float) -> Survey:
    return read('kind = "yes-no"\nepsilon = 0.1', cap)


def survey(cap: float = 0.3, text: str = "A?", **settings: Any) -> Survey:
    """Return a survey of one question that costs 0.1 a wave."""
    spec = tenths(cap).spec
    return freeze(spec | {"questions": [spec["questions"][0] | {"text": text}]} | settings)


#: Submissions are checked against `SURVEY`, unless a test says otherwise.
SURVEY = survey()
INVITED = survey(access="invited")


def submission(rid: int = 1, **changes: Any) -> Submission:
    """Return Ada's submission in wave 1, or a changed one."""
    one = Submission(SURVEY, 1, bytes([rid] * 16), ADA, None, {"a": 1})
    return replace(one, **changes)


def known(
    spent: dict[bytes, Spent] | None = None,
    current: Survey = SURVEY,
    answered: Sequence[Survey] = (SURVEY,),
    open_waves: Sequence[int] = (1, 2),
    stored: Sequence[Submission] = (),
    unused: Sequence[tuple[int, bytes]] = (),
    cells: dict[Key, Cell] | None = None,
) -> Known:
    """Return the knowledge of a store whose respondents have spent this much."""
    return Known(
        surveys={current.id: Asked(current, open_waves, Steps())},
        reports={
            (one.survey.id, one.rid): (one.survey.version, one.wave, one.payload) for one in stored
        },
        spent={(current.id, who): own for who, own in (spent or {}).items()},
        priced={(one.id, one.terms): one for one in answered},
        unused={(current.id, wave, key) for wave, key in unused},
        cells=cells or {},
    )


def times(n: int, of: Survey = SURVEY) -> Spent:
    """Return the spends of a respondent who has answered a survey this often."""
    return Spent(((of.terms, n),), n * CHARGE)


def words(decision: Decision) -> list[int | str]:
    return [one.word if isinstance(one, Refusal) else one for one in decision.results]


def refusal(*batch: Submission, **state: Any) -> Refusal:
    """Return why the last of a batch is refused."""
    *_, last = decide(batch, known(**state), TODAY).results
    assert isinstance(last, Refusal)
    return last


def is_empty(decision: Decision) -> bool:
    """Return whether a decision writes nothing."""
    return not any(value for name, value in vars(decision).items() if name != "results")


def test_a_first_report_is_stored_charged_and_counted() -> None:
    decision = decide([submission()], known(), TODAY)
    assert decision.results == [201]
    rid, payload = bytes([1] * 16), '{"a":1}'
    assert decision.reports == [("tenths", rid, SURVEY.version, 1, payload)]
    assert decision.charges == [("tenths", ADA, SURVEY.terms, 1, CHARGE)]
    assert decision.moves == [("tenths", times(1), 1)]
    (tally,) = decision.tallies
    assert tally[:4] == ("tenths", SURVEY.version, 1, "a")
    assert [column.tolist() for column in tally[4:]] == [[0], [1], [1]]
    assert decision.sizes == []
    assert decision.used == []


# Retries


def test_a_stored_report_is_known_whatever_has_happened_since() -> None:
    over = survey(closes="2026-02-28", proof_of_work=9)
    state = known({ADA: times(3)}, current=over, open_waves=(), stored=[submission()])
    decision = decide([submission()], state, TODAY)
    assert decision.results == [200]
    assert is_empty(decision)


@pytest.mark.parametrize(
    "change",
    [{"reports": {"a": 0}}, {"wave": 2}, {"survey": survey(text="Another?")}],
    ids=["report", "wave", "version"],
)
def test_an_id_of_another_report_is_refused(change: dict[str, Any]) -> None:
    state = known(stored=[submission()])
    decision = decide([submission(**change)], state, TODAY)
    assert words(decision) == ["rid-reused"]
    assert is_empty(decision)
    # The same holds within a batch.
    assert words(decide([submission(), submission(**change)], known(), TODAY)) == [
        201,
        "rid-reused",
    ]


def test_a_retry_in_the_same_batch_is_stored_and_charged_once() -> None:
    decision = decide([submission(), submission()], known(), TODAY)
    assert decision.results == [201, 200]
    assert len(decision.reports) == 1
    assert decision.charges == [("tenths", ADA, SURVEY.terms, 1, CHARGE)]


def test_an_id_is_free_again_if_its_report_was_refused() -> None:
    batch = [submission(wave=3), submission()]
    assert words(decide(batch, known(), TODAY)) == ["closed", 201]


# Whether the survey takes reports


@pytest.mark.parametrize("last_day", ["closes", "delete_reports_after"])
def test_a_survey_is_over_after_its_last_day(last_day: str) -> None:
    ends, goes_on = (
        survey(**dict[str, Any]({last_day: day})) for day in ("2026-02-28", "2026-03-01")
    )
    assert refusal(submission(survey=ends), current=SURVEY).word == "over"
    assert refusal(submission(), current=ends).word == "over"
    assert decide([submission()], known(current=goes_on), TODAY).results == [201]


def test_a_wave_that_is_not_open_is_refused_and_the_open_ones_are_named() -> None:
    assert refusal(submission(wave=3)) == Refusal("closed", "wave", "an open wave: 1 or 2", "3")
    assert refusal(submission(), open_waves=()).expected == "an open wave: none"


def test_the_current_version_says_how_much_work_is_required() -> None:
    asking = survey(proof_of_work=9)
    assert refusal(submission(work=8), current=asking) == Refusal(
        "work-required", "work", "9 bits of work", "8", 9
    )
    assert decide([submission(work=9)], known(current=asking), TODAY).results == [201]
    # A version that asked for more than the current one was checked when it was parsed.
    assert decide([submission(survey=asking)], known(), TODAY).results == [201]


# What it costs


def test_a_report_that_just_fits_under_the_cap_is_taken_and_the_next_is_not() -> None:
    decision = decide([submission()], known({ADA: times(2)}), TODAY)
    assert decision.results == [201]
    assert decision.moves == [("tenths", times(2), -1), ("tenths", times(3), 1)]
    assert refusal(submission(), spent={ADA: times(3)}) == Refusal(
        "cap-exceeded", "respondent", "at most ε = 0.3 in total", "0.3 spent and 0.1 more"
    )


def test_every_cap_that_was_promised_holds() -> None:
    higher, lower = survey(cap=5), survey(cap=0.2)
    spent = Spent(((lower.terms, 2),), 2 * CHARGE)
    # The caps of the answered version, of the one at hand, and of the one published last.
    state: dict[str, Any] = {"spent": {ADA: spent}, "answered": [lower], "current": higher}
    assert refusal(submission(survey=higher), **state).word == "cap-exceeded"
    state |= {"spent": {ADA: times(2, higher)}, "answered": [higher]}
    assert refusal(submission(survey=lower), **state).word == "cap-exceeded"
    assert refusal(submission(survey=higher), **(state | {"current": lower})).word == "cap-exceeded"
    assert words(decide([submission(survey=higher)], known(**state), TODAY)) == [201]


def test_reports_of_one_pseudonym_in_one_batch_add_up() -> None:
    batch = [submission(rid) for rid in range(1, 6)]
    decision = decide(batch, known(), TODAY)
    assert words(decision) == [201, 201, 201, "cap-exceeded", "cap-exceeded"]
    assert decision.charges == [("tenths", ADA, SURVEY.terms, 3, CAP)]
    assert decision.moves == [("tenths", times(3), 1)]
    assert decision.tallies[0].counts.tolist() == [3]


def test_reports_of_one_pseudonym_to_two_versions_add_up() -> None:
    other, corrected = survey(cap=0.4), survey(text="A, corrected?")
    assert corrected.terms == SURVEY.terms
    batch = [submission(1), submission(2, survey=corrected), submission(3, survey=other)]
    decision = decide(batch, known(), TODAY)
    assert decision.results == [201] * 3
    rows = {(row.terms, row.submissions, row.charged) for row in decision.charges}
    assert rows == {(SURVEY.terms, 2, 2 * CHARGE), (other.terms, 1, CHARGE)}
    spent = Spent(tuple(sorted([(SURVEY.terms, 2), (other.terms, 1)])), CAP)
    assert decision.moves == [("tenths", spent, 1)]
    assert len(decision.tallies) == 3
    # The least of the three caps holds for the next report.
    assert refusal(*batch, submission(4, survey=other)).word == "cap-exceeded"


def test_spends_belong_to_one_respondent_and_one_survey() -> None:
    other = survey(id="other")
    state = known({ADA: times(3)})
    state = replace(state, surveys={**state.surveys, "other": Asked(other, (1,), Steps())})
    batch = [submission(1, respondent=BOB), submission(2, survey=other), submission(3)]
    decision = decide(batch, state, TODAY)
    assert words(decision) == [201, 201, "cap-exceeded"]
    assert [row[:2] for row in decision.charges] == [("other", ADA), ("tenths", BOB)]


def test_the_cost_of_a_memory_depends_on_earlier_waves_and_their_charges() -> None:
    remembered = read('kind = "yes-no"\nepsilon = 0.5\nepsilon_forever = 1', cap=9)

    def charge(waves: int, charged: int) -> int:
        spent = {ADA: Spent(((remembered.terms, waves),), charged)}
        state = known(spent, current=remembered, answered=[remembered])
        (row,) = decide([submission(survey=remembered)], state, TODAY).charges
        return row.charged

    third = remembered.charge_after([(remembered, 2)])
    assert third < charge(1, 500_000) == 500_000
    assert charge(2, 1_000_000) == third
    # Earlier releases charged too little, so the next wave makes up for it.
    assert charge(2, 999_000) == third + 1_000
    # Within a batch, too, each report is charged in the light of earlier ones.
    batch = [submission(rid, survey=remembered) for rid in (1, 2, 3)]
    (row,) = decide(batch, known(current=remembered), TODAY).charges
    assert (row.submissions, row.charged) == (3, 1_000_000 + third)


# Invitations


def invited(rid: int = 1, key: bytes | None = b"key", **changes: Any) -> Submission:
    return submission(rid, survey=INVITED, invitation=key, **changes)


def test_an_invitation_is_used_up() -> None:
    decision = decide([invited()], known(current=INVITED, unused=[(1, b"key")]), TODAY)
    assert decision.results == [201]
    assert decision.used == [("tenths", 1, b"key")]


@pytest.mark.parametrize(
    ("key", "got"), [(None, "none"), (b"another", "a used or unknown one")], ids=["none", "another"]
)
def test_without_an_unused_invitation_nobody_is_let_in(key: bytes | None, got: str) -> None:
    why = refusal(invited(key=key), current=INVITED, unused=[(1, b"key")])
    assert (why.word, why.got) == ("invitation", got)


def test_an_invitation_is_valid_for_its_own_wave_and_survey() -> None:
    assert refusal(invited(), current=INVITED, unused=[(2, b"key")]).word == "invitation"
    state = known(current=INVITED)
    state = replace(state, unused={("other", 1, b"key")})
    assert words(decide([invited()], state, TODAY)) == ["invitation"]


def test_an_invitation_is_used_once_in_a_batch() -> None:
    batch = [invited(1), invited(2, respondent=BOB)]
    decision = decide(batch, known(current=INVITED, unused=[(1, b"key")]), TODAY)
    assert words(decision) == [201, "invitation"]
    assert [row.respondent for row in decision.charges] == [ADA]


def test_a_refused_report_leaves_its_invitation_unused() -> None:
    state = known({ADA: times(3)}, current=INVITED, unused=[(1, b"key")])
    batch = [invited(1), invited(2, respondent=BOB)]
    decision = decide(batch, state, TODAY)
    assert words(decision) == ["cap-exceeded", 201]
    assert decision.used == [("tenths", 1, b"key")]


def test_an_invitation_is_required_if_either_version_requires_one() -> None:
    assert refusal(submission(), current=INVITED).expected == "an invitation's token"
    assert refusal(invited(key=None)).expected == "an invitation's token"
    assert refusal(submission(invitation=b"key"), unused=[(1, b"key")]).expected == (
        "none: the survey is open to all"
    )


# All together


def test_the_first_of_several_reasons_is_given() -> None:
    state: dict[str, Any] = {"spent": {ADA: times(3, INVITED)}, "answered": [INVITED]}
    told = []
    for last_day, wave, work in (
        ("02-28", 3, 0),
        ("03-31", 3, 0),
        ("03-31", 1, 0),
        ("03-31", 1, 9),
    ):
        current = survey(access="invited", closes=f"2026-{last_day}", proof_of_work=9)
        told.append(refusal(invited(wave=wave, work=work), current=current, **state).word)
    assert told == ["over", "closed", "work-required", "cap-exceeded"]


def test_rows_are_in_the_order_of_their_own_keys_and_nothing_known_is_changed() -> None:
    batch = [
        submission(rid, respondent=bytes([who] * 16), wave=wave)
        for rid, who, wave in ((9, 2, 2), (3, 7, 1), (5, 1, 2), (1, 4, 1))
    ]
    state = known()
    decision = decide(batch, state, TODAY)
    assert [row.rid[0] for row in decision.reports] == [1, 3, 5, 9]
    assert [row.respondent[0] for row in decision.charges] == [1, 2, 4, 7]
    assert [row.wave for row in decision.tallies] == [1, 2]
    assert state == known()
    again = decide(batch, state, TODAY)
    assert (again.results, again.charges) == (decision.results, decision.charges)


def test_sizes_are_counted_where_reports_count_for_different_numbers_of_symbols() -> None:
    options = ", ".join(f'{{id = "{name}", text = "{name}"}}' for name in "abcd")
    bits = read(f'kind = "choice"\nmechanism = "oue"\nepsilon = 1\noptions = [{options}]', cap=9)
    people = payloads(bits, [{"a": "a"}] * 9, 1, seed=1)
    batch = [submission(n, survey=bits, reports=one["reports"]) for n, one in enumerate(people)]
    decision = decide(batch, known(current=bits), TODAY)
    (tally,), (sizes,) = decision.tallies, decision.sizes
    # A report that counts for this many symbols adds to as many counts of the tally.
    assert sizes.counts.sum() == 9
    assert (sizes.symbols * sizes.counts).sum() == tally.counts.sum() > 0


def test_a_snapshot_is_taken_when_a_batch_is_complete() -> None:
    cell = SURVEY.id, SURVEY.version, 1
    whole = (SURVEY.id, *WHOLE)
    before = {cell: Cell(99, 0, 50), whole: Cell(120, 50, 100)}
    batch = [submission(1), submission(2, wave=2)]
    assert decide(batch, known(cells=before), TODAY).cells == [
        CellChange(whole, Cell(120, 50, 100), Cell(122, 50, 100)),
        CellChange(cell, Cell(99, 0, 50), Cell(100, 50, 100)),
        CellChange((SURVEY.id, SURVEY.version, 2), Cell(), Cell(1)),
    ]


def test_a_refused_report_is_in_no_snapshot() -> None:
    assert decide([submission(wave=3)], known(), TODAY).cells == []
