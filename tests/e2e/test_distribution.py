"""The reports of 1,000 scripted respondents through one real page have the stated law."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collector import Collector
from device import Device, expect_state
from numpy.typing import NDArray
from scipy.stats import chi2

from analysis.survey.freeze import thaw
from analysis.survey.question import Question
from analysis.survey.survey_file import read_survey
from server.store import Store

pytestmark = pytest.mark.more

RESPONDENTS = 1000
#: Below this, a question is said not to fit its channel. For ten questions together the error has
#: the probability 1e-7, which leaves room for tails that chi-square only approximates.
LEAST = 1e-8
#: How much likelier the likeliest report of each answer could be without being noticed.
BIAS = 0.18
SHARED = """
title = "Crowd"
id = "crowd"
[page]
kiosk = true
[[questions]]
id = "smoked"
kind = "yes-no"
text = "Did you smoke?"
epsilon = 2
[[questions]]
id = "often"
kind = "scale"
text = "How often?"
points = ["never", "rarely", "daily"]
shows_if = "smoked = 'yes'"
epsilon = 1.5
[[questions]]
id = "pet"
kind = "choice"
text = "Which animal?"
options = [
  {id = "cat", text = "Cat"}, {id = "dog", text = "Dog"}, {id = "eel", text = "Eel"},
]
required = true
epsilon = 1
[[questions]]
id = "had"
kind = "choices"
text = "What did you have?"
options = [
  {id = "ale", text = "Ale"}, {id = "bun", text = "Bun"}, {id = "cod", text = "Cod"},
]
epsilon = 2
[[questions]]
id = "calm"
kind = "scale"
text = "calm"
matrix = "How do you feel?"
points = ["low", "mid", "high"]
epsilon = 1
[[questions]]
id = "glad"
kind = "scale"
text = "glad"
matrix = "How do you feel?"
points = ["low", "mid", "high"]
epsilon = 1
[[questions]]
id = "age"
kind = "number"
text = "How old are you?"
min = 0
max = 100
step = 1
slider = true
epsilon = 2
[[questions]]
id = "town"
kind = "text"
text = "Which town?"
candidates = ["Oslo", "Bergen", "Tromso", "Bodo"]
epsilon = 2
[[questions]]
id = "word"
kind = "text"
text = "Your word?"
longest = 8
epsilon = 3
[[questions]]
id = "order"
kind = "rank"
text = "In which order?"
items = [{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "c", text = "C"}]
epsilon = 2
"""
#: The answers of ten respondents, which repeat again and again.
PEOPLE: list[dict[str, str]] = [
    {"smoked": "yes", "often": "daily", "pet": "cat", "had": "ale|cod", "calm": "low",
     "glad": "high", "age": "17", "town": "oslo", "word": "quietly", "order": "c|a|b"},
    {"smoked": "no", "pet": "cat", "had": "none", "calm": "mid", "age": "99", "town": "Bodo"},
    {"pet": "eel", "had": "no-answer", "word": "Storm"},
    {"smoked": "no-answer", "pet": "cat", "glad": "no-answer", "age": "0", "order": "a|b|c"},
] + 3 * [
    {"smoked": "yes", "often": "never", "pet": "dog", "had": "bun", "calm": "low", "glad": "mid",
     "age": "50", "town": "elsewhere", "word": "storm", "order": "b|a|c"},
] + 3 * [
    {"smoked": "no", "pet": "cat", "had": "ale|bun|cod", "calm": "high", "glad": "high",
     "age": "33", "town": "Oslo", "word": "storm", "order": "c|b|a"},
]  # fmt: skip
#: Answers as people do, by real buttons; returns the number of each receipt.
CROWD = """async ([people, first, end]) => {
  const one = (selector) => document.querySelector(selector);
  const until = (state) => new Promise((resolve) => {
    const part = one(`[data-state="${state}"]`);
    if (!part.hidden) return resolve();
    return new MutationObserver((_, observer) => {
      if (part.hidden) return;
      observer.disconnect();
      resolve();
    }).observe(part, { attributeFilter: ['hidden'] });
  });
  const give = (id, answer) => {
    const field = one(`[data-question="${id}"] .entry input`);
    if (field) field.value = answer;
    else for (const option of answer.split('|')) press(one(`[id="${id}--${option}"]`));
  };
  const press = (control) => {
    if (control.type === 'button') control.click();
    else control.checked = true;
  };
  const receipts = [];
  for (let person = first; person < end; person += 1) {
    one('#begin').click();
    Object.entries(people[person % people.length]).forEach(([id, answer]) => give(id, answer));
    one('#age--number').dispatchEvent(new Event('input', { bubbles: true }));
    one('[data-page]:not([hidden]) [type="submit"]').click();
    one('#send').click();
    await until('stored');
    receipts.push(one('#receipt-rid').textContent);
    one('#next-person').click();
    await until('ready');
  }
  return receipts;
}"""


def law(question: Question, answer: str) -> NDArray[np.float64]:
    """Return the (cohorts x symbols,) probability of each report of an answer, as stated."""
    randomizer, value = question.randomizer, question.value(answer)
    cohorts, symbols = randomizer.shape
    found = np.zeros((cohorts, symbols))
    for cohort in range(cohorts):
        for symbol, chance in randomizer.encoder.chances(value, cohort):
            found[cohort] += float(chance) / cohorts * randomizer.channel.chances()[symbol]
    return found.ravel()


def fit(counts: NDArray[Any], laws: NDArray[np.float64]) -> float:
    """Return the probability of counts that fit as badly: chi-square, with a row for each answer.

    Of each answer, cells in which fewer than 5 reports are expected are pooled with those that
    have the same chance, and what is still too little with each other.
    """
    statistic, freedom = 0.0, 0
    different, same = np.unique(laws.round(12), axis=0, return_inverse=True)
    for answer, chances in enumerate(different):
        row = counts[same.ravel() == answer].sum(axis=0)
        expected = chances * row.sum()
        pools = np.where(expected >= 5, -1 - np.arange(len(row)), 0)
        _, alike = np.unique(chances.round(12), return_inverse=True)
        together = np.bincount(alike, weights=np.where(pools == 0, expected, 0))
        pools = np.where((pools == 0) & (together[alike] >= 5), 1 + alike, pools)
        pools = np.unique(pools, return_inverse=True)[1]
        of = np.bincount(pools, weights=expected)
        statistic += float(
            (((np.bincount(pools, weights=row) - of) ** 2)[of > 0] / of[of > 0]).sum()
        )
        freedom += int(np.count_nonzero(of)) - 1
    return float(chi2.sf(statistic, freedom))


def laws_of(survey: Any) -> dict[str, NDArray[np.float64]]:
    """Return for each question an array with a row for each person."""
    ids = [question.id for question in survey.questions]
    counted = [survey.shown({**dict.fromkeys(ids, ""), **answers}) for answers in PEOPLE]
    return {
        question.id: np.array([law(question, answers[question.id]) for answers in counted])
        for question in survey.questions
    }


def biased(laws: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    """Return laws under which the likeliest reports of an answer are likelier by this factor."""
    found = laws.copy()
    for row in found:
        likeliest = row >= row.max() * 0.999
        part = row[likeliest].sum()
        row[likeliest] *= (part + by) / part
        row[~likeliest] *= (1 - part - by) / (1 - part)
    return found


def tallies_of(survey: Any, reports: dict[str, Any], receipts: list[str]) -> dict[str, Any]:
    """Return for each question the tallies of all people, a row each."""
    found = {
        question.id: np.zeros((len(PEOPLE), *question.randomizer.shape), dtype=int)
        for question in survey.questions
    }
    for number, receipt in enumerate(receipts):
        for question in survey.questions:
            for place in question.randomizer.tallied(reports[receipt][question.id]):
                found[question.id][number % len(PEOPLE)][place] += 1
    return found


def test_reports_of_a_crowd_have_the_stated_laws(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    survey = collector.publish(SHARED)
    page = new_device().visit(collector.page(survey))
    expect_state(page, "ready")
    # Nobody looks at the page, so laying out each page would take most of the time.
    page.evaluate("document.documentElement.style.display = 'none'")
    receipts = [
        receipt
        for first in range(0, RESPONDENTS, 250)
        for receipt in page.evaluate(CROWD, [PEOPLE, first, first + 250])
    ]
    frozen = collector.frozen(survey)
    asked = thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])
    store = Store(collector.database)
    with closing(store):
        stored = store.reports.tallies(asked, 1)
    with closing(sqlite3.connect(collector.database)) as database:
        rows = database.execute("SELECT rid, payload FROM report WHERE survey = ?", (survey,))
        reports = {rid.hex(): json.loads(payload) for rid, payload in rows}
    assert len(set(receipts)) == RESPONDENTS
    assert set(receipts) == set(reports)
    assert Counter(row["reports"] for row in collector.ledger(survey)) == {"10": RESPONDENTS}
    tallies, laws = tallies_of(asked, reports, receipts), laws_of(asked)
    for name, tally in tallies.items():
        assert (tally.sum(axis=0) == stored[name]).all(), name
    fits = {name: fit(tallies[name].reshape(len(PEOPLE), -1), laws[name]) for name in laws}
    assert min(fits.values()) > LEAST, fits


def test_a_bias_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "crowd.toml").write_text(SHARED)
    random, each = np.random.default_rng(5), RESPONDENTS // len(PEOPLE)
    for name, rows in laws_of(read_survey(tmp_path / "crowd.toml")).items():
        assert fit(random.multinomial(each, rows), rows) > LEAST, name
        assert fit(random.multinomial(each, biased(rows, BIAS)), rows) < LEAST, name
