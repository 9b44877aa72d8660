"""A whole device, made of the served modules, agrees with the vectors."""

import sys
import unicodedata
from typing import Any

import pytest
from javascript import Run, vector

from analysis.core.texts import normalized


def test_encoders_fit_the_questions_of_the_reference(run: Run) -> None:
    found = vector("fit")
    body = """return v.cases.map(({question}) => {
      const values = m.KINDS[question.kind].values(question);
      return v.encoders.flatMap((e, place) =>
        (ENCODERS[e.name].fits(e, values, question.no_answer) ? [place] : [])); });"""
    modules = "const {ENCODERS} = await import('/client/encoders.js');"
    fitting = run("kinds.js", modules + body, found)
    assert fitting == [case["fitting"] for case in found["cases"]]
    assert all(fitting)


def test_ratios_cost_what_the_reference_says(run: Run) -> None:
    cases = vector("charges")["charges"]
    got = run("exact.js", "return v.map(({ratio}) => m.micro(ratio.map(BigInt)));", cases)
    assert got == [case["charge"] for case in cases]


def test_caps_are_rounded_as_the_reference_does(run: Run) -> None:
    cases = vector("charges")["caps"]
    got = run("exact.js", "return v.map(({cap}) => m.millionths(cap));", cases)
    assert got == [case["millionths"] for case in cases]


def test_reports_cost_what_the_reference_says(run: Run) -> None:
    cases = vector("randomizers")["cases"]
    got = run("randomizer.js", "return v.map((one) => m.spent(one.randomizer, 1));", cases)
    assert got == [case["charge"] for case in cases]
    assert any("delta" in case["randomizer"] for case in cases)


def test_proof_of_work_is_that_of_the_reference(run: Run) -> None:
    (case,) = vector("charges")["work"]
    body = """return Promise.all(v.first.map(({bits}) =>
      m.work(`${v.version}:${v.wave}:${v.rid}`, bits)));"""
    assert run("optional/work.js", body, case) == [one["work"] for one in case["first"]]


def test_surveys_are_answered_or_refused_as_by_the_reference(run: Run) -> None:
    cases = vector("limits")["cases"]
    body = "return v.map((one) => refuses(() => m.check(one.survey, one.randomizers)));"
    for case, got in zip(cases, run("report.js", body, cases), strict=True):
        assert got.startswith("accepted" if case["sound"] else "RangeError: "), case["changes"]
        assert got != "accepted" or case["sound"]


def test_answers_that_are_hidden_do_not_count(run: Run) -> None:
    cases = vector("logic")["shown"]
    got = run("logic.js", "return v.map((one) => m.shown(one, one.answers));", cases)
    assert got == [case["shown"] for case in cases]
    assert any(case["shown"] != case["answers"] for case in cases)


def test_memories_of_bits_cost_what_the_reference_says(run: Run) -> None:
    cases = vector("memories")["bits"]
    body = """return v.map(({randomizer, spent}) => { m.verify(randomizer);
      return spent.map(([n]) =>
        [n, m.spent(randomizer, n, false, 2), m.spent(randomizer, n, false, 1)]); });"""
    assert run("randomizer.js", body, cases) == [case["spent"] for case in cases]


#: One wave of a device. Its hashes of texts are made before anything else is drawn, so the cohorts
#: of these come first.
_WAVE = """
  const {canonical, keyOf, pseudonym} = await import('/client/hashes.js');
  const {ENCODERS} = await import('/client/encoders.js');
  const {below} = await import('/client/exact.js');
  const {check, draw, prepare, priceOf, unaskedOf} = m;
  const all = [];
  for (const one of v) {
    const open = structuredClone(one.open);
    const {survey, randomizers, version, wave} = open;
    check(survey, randomizers);
    const key = await keyOf(one.secret);
    survey.unasked = await unaskedOf(open, key);
    const [first, rest] = [[], []];
    for (const [id, list] of one.order.map((id) => [id, one.words[id]])) {
      const words = tape(list), {encoder, permanent} = randomizers[id];
      const {isHashed, keepsCohort, cohorts} = ENCODERS[encoder?.name] ?? {};
      if (isHashed && !keepsCohort && !permanent) below(cohorts(encoder), words);
      first.push(...list.slice(0, list.length - words.left));
      rest.push(...list.slice(list.length - words.left));
    }
    const before = tape(first), later = tape(rest);
    const prepared = await prepare(open, one.answers, key, before);
    const who = {rid: one.rid, respondent: await pseudonym(key, survey.id)};
    if (one.token) who.token = one.token;
    if (survey.proof_of_work) who.work = JSON.parse(one.body).work;
    const {text} = draw(open, prepared, who, later);
    const {cost, times} = (await priceOf(survey, randomizers))(one.before);
    all.push([canonical(JSON.parse(text)), cost, times, before.left + later.left]);
  }
  return all;"""


def test_whole_waves_are_the_bytes_and_the_charge_of_the_reference(run: Run) -> None:
    cases: list[dict[str, Any]] = vector("transcripts")["cases"]
    given = [{**case, "order": [*case["words"]]} for case in cases]
    for case, got in zip(cases, run("report.js", _WAVE, given), strict=True):
        assert got == [case["body"], case["charge"], case["times"], 0]


@pytest.mark.more
def test_every_letter_is_normalized_as_by_the_pinned_unicode(run: Run) -> None:
    # A browser with a later version must agree on the characters of this one.
    letters = [
        letter
        for letter in map(chr, range(sys.maxunicode + 1))
        if letter != "\0" and unicodedata.category(letter) not in ("Cn", "Cs")
    ]
    assert len(letters) > 280_000
    # They are sent as two texts, since a list of so many takes a minute to send.
    sent = ["".join(letters), "\0".join(normalized(f"x{letter}y") for letter in letters)]
    body = """const expected = v[1].split('\\0');
      return [...v[0]].filter((one, at) => m.normalized(`x${one}y`) !== expected[at]);"""
    assert run("optional/texts.js", body, sent) == []
