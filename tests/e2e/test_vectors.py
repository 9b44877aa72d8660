"""The vectors bind JavaScript to Python; the modules read them as they are served."""

import json
from typing import Any

import pytest
from javascript import VECTORS, Run, check_refused, taken, vector


def channel_names() -> list[str]:
    """Return every file of vectors that belongs to a channel."""
    names = sorted(file.stem for file in VECTORS.glob("*.json"))
    return [name for name in names if "channel" in vector(name).get("cases", [{}])[0]]


def test_every_channel_of_the_browser_has_vectors(run: Run) -> None:
    names = run("channels.js", "return Object.keys(m.CHANNELS);", None)
    assert sorted(names) == channel_names()


@pytest.mark.parametrize("name", channel_names())
def test_channel_draws_as_the_reference(run: Run, name: str) -> None:
    for case in vector(name)["cases"]:
        body = """const { randomize } = m.CHANNELS[v.channel.name];
          return v.draws.map((draw) => { const words = tape(draw.words);
            return [randomize(draw.symbol, v.channel, words), words.left]; });"""
        results = taken(run("channels.js", body, case))
        assert results == [draw["report"] for draw in case["draws"]], case["channel"]


@pytest.mark.parametrize("name", channel_names())
def test_channel_has_the_ratio_of_the_reference(run: Run, name: str) -> None:
    cases = vector(name)["cases"]
    body = """return v.map(({channel, apart}) =>
      reduced(m.CHANNELS[channel.name].ratio(channel, apart)));"""
    assert run("channels.js", body, cases) == ["/".join(one["ratio"]) for one in cases]


@pytest.mark.parametrize("name", channel_names())
def test_broken_channel_is_refused(run: Run, name: str) -> None:
    refused = vector(name)["refused"]
    body = "return v.map((one) => refuses(() => m.verify(one.randomizer)));"
    check_refused(refused, run("randomizer.js", body, refused))


def test_encoders_encode_as_the_reference(run: Run) -> None:
    cases = vector("encoders")["cases"]
    body = """return Promise.all(v.map(async ({encoder, value, cohort, words: list}) => {
      const words = tape(list);
      const {encode} = m.ENCODERS[encoder.name];
      return [await encode(given(value), encoder, cohort, words), words.left]; }));"""
    assert taken(run("encoders.js", body, cases)) == [case["symbol"] for case in cases]


def test_every_encoder_of_the_browser_has_vectors(run: Run) -> None:
    names = run("encoders.js", "return Object.keys(m.ENCODERS);", None)
    assert set(names) == {case["encoder"]["name"] for case in vector("encoders")["cases"]}


def test_impossible_values_and_cohorts_are_refused(run: Run) -> None:
    refused = vector("encoders")["values"]
    body = """return Promise.all(v.map(async ({encoder, value, cohort}) => {
      try {
        await m.ENCODERS[encoder.name].encode(given(value), encoder, given(cohort), tape([]));
        return 'accepted';
      } catch (error) { return `${error.constructor.name}: ${error.message}`; } }));"""
    check_refused(refused, run("encoders.js", body, refused))


def test_impossible_encoders_are_refused(run: Run) -> None:
    refused = vector("encoders")["refused"]
    body = "return v.map((one) => refuses(() => m.verify(one.randomizer)));"
    check_refused(refused, run("randomizer.js", body, refused))


def test_randomizers_are_accepted_with_their_epsilon(run: Run) -> None:
    cases = vector("randomizers")["cases"]
    epsilons = run("randomizer.js", "return v.map((one) => m.verify(one.randomizer));", cases)
    assert epsilons == pytest.approx([case["epsilon"] for case in cases], abs=1e-12, rel=1e-12)
    with_delta = [case for case in cases if case["delta"]]
    assert len(with_delta) > 3
    for factor, expected in ((1, "accepted"), (0.999, "RangeError: ")):
        body = """return v.map(({randomizer, delta}) =>
          refuses(() => m.verify(randomizer, delta)));"""
        limits = [case | {"delta": case["delta"] * factor} for case in with_delta]
        got = run("randomizer.js", body, limits)
        assert all(result.startswith(expected) for result in got), got


def test_randomizers_draw_as_the_reference(run: Run) -> None:
    cases = vector("randomizers")["cases"]
    # Compared as text, since the order of an object's keys is part of a report's bytes.
    body = """return v.map((one) => one.draws.map((draw) => { const words = tape(draw.words);
      const report = m.randomize(given(draw.value), one.randomizer, words);
      return [JSON.stringify(report), words.left]; }));"""
    for case, drawn in zip(cases, run("randomizer.js", body, cases), strict=True):
        reports = [json.dumps(draw["report"], separators=(",", ":")) for draw in case["draws"]]
        assert taken(drawn) == reports, case["randomizer"]


def test_tampered_randomizers_are_refused(run: Run) -> None:
    refused = vector("randomizers")["refused"]
    body = "return v.map(({randomizer}) => refuses(() => m.verify(randomizer)));"
    check_refused(refused, run("randomizer.js", body, refused))


@pytest.mark.parametrize("name", ["cases", "texts"])
def test_devices_remember_as_the_reference(run: Run, name: str) -> None:
    cases = vector("remembered")[name]
    body = """const {keyOf, memoryOf} = await import('/client/hashes.js');
      return Promise.all(v.map(async (one) => {
        m.verify(one.randomizer);
        const digest = Uint8Array.from(one.digest.match(/../g), (byte) => parseInt(byte, 16));
        return Promise.all(one.draws.map(async (draw) => {
          const value = given(draw.value), words = tape(draw.words);
          const key = await keyOf(draw.secret);
          const memory = memoryOf(key, 'work-2026', one.question, digest);
          const kept = await m.remember(value, one.randomizer, memory, words);
          const report = m.randomize(value, one.randomizer, words, kept);
          return [JSON.stringify(report), words.left]; })); }));"""
    for case, drawn in zip(cases, run("randomizer.js", body, cases), strict=True):
        reports = [json.dumps(draw["report"], separators=(",", ":")) for draw in case["draws"]]
        assert taken(drawn) == reports, case["randomizer"]


@pytest.mark.parametrize("name", ["cases", "texts"])
def test_waves_cost_what_the_reference_says(run: Run, name: str) -> None:
    cases = vector("remembered")[name]
    body = """return v.map((one) => one.spent.map(([n]) =>
      [n, m.spent(one.randomizer, n, false, 1), m.spent(one.randomizer, n, true, 1)]));"""
    assert run("randomizer.js", body, cases) == [case["spent"] for case in cases]


def test_unsound_memories_are_refused(run: Run) -> None:
    refused = vector("remembered")["refused"]
    body = "return v.map(({randomizer}) => refuses(() => m.verify(randomizer)));"
    check_refused(refused, run("randomizer.js", body, refused))


def test_texts_are_compared_as_in_the_reference(run: Run) -> None:
    cases = vector("texts")["normalized"]
    body = "return v.map(({text}) => m.normalized(text));"
    assert run("optional/texts.js", body, cases) == [case["normalized"] for case in cases]


def test_words_of_texts_are_those_of_the_reference(run: Run) -> None:
    cases = vector("texts")["words"]
    body = """return Promise.all(v.map(({what, text, start, words}) =>
      m.textWords(what, text, start, words.length)));"""
    assert run("optional/texts.js", body, cases) == [case["words"] for case in cases]


def test_uniform_draws_are_those_of_the_reference(run: Run) -> None:
    cases = vector("words")["below"]
    body = """return v.map((one) => { const words = tape(one.words);
      return [m.below(one.total, words), words.left]; });"""
    assert taken(run("exact.js", body, cases)) == [case["result"] for case in cases]


def test_coins_are_those_of_the_reference(run: Run) -> None:
    cases = vector("words")["bernoulli"]
    body = """return v.map((one) => { const words = tape(one.words);
      return [m.bernoulli(...fraction(one.chance), words), words.left]; });"""
    assert taken(run("exact.js", body, cases)) == [case["result"] for case in cases]


def test_answers_have_the_values_of_the_reference(run: Run) -> None:
    cases = vector("answers")["values"]
    body = """return v.map(({question, answer}) => {
      const value = m.KINDS[question.kind].value(answer, question);
      return typeof value?.[0] === 'bigint' ? reduced(value) : value; });"""
    assert run("kinds.js", body, cases) == [case["value"] for case in cases]


def test_impossible_answers_are_refused(run: Run) -> None:
    refused = vector("answers")["refused"]
    body = """return v.map(({question, answer}) =>
      refuses(() => m.KINDS[question.kind].value(answer, question)));"""
    results = run("kinds.js", body, refused)
    for question, got in zip((case["question"] for case in refused), results, strict=True):
        # The message does not repeat the input, which may be a true answer.
        assert got == f'RangeError: "{question["id"]}" expected a {question["kind"]}'


def test_conditions_hold_as_in_the_reference(run: Run) -> None:
    cases = vector("logic")["cases"]
    results = run("logic.js", "return v.map((one) => m.holds(one.condition, one.answers));", cases)
    wrong = [case for case, got in zip(cases, results, strict=True) if got != case["holds"]]
    assert wrong == []


def test_versions_are_those_of_the_reference(run: Run) -> None:
    cases = vector("versions")["cases"]
    body = "return Promise.all(v.map((one) => m.versionOf(one.survey, one.randomizers)));"
    assert run("hashes.js", body, cases) == [case["version"] for case in cases]


def test_pseudonyms_are_those_of_the_reference(run: Run) -> None:
    cases = vector("pseudonyms")["cases"]
    body = """const found = []; for (const one of v) {
      found.push(await m.pseudonym(await m.keyOf(one.secret), one.survey)); } return found;"""
    assert run("hashes.js", body, cases) == [case["respondent"] for case in cases]


QUESTION = {"id": "q", "kind": "choice", "epsilon": 1, "no_answer": True}
OPTIONS = [{"id": name, "text": name} for name in ("a", "b")]
NUMBER = {"id": "q", "kind": "number", "epsilon": 1, "no_answer": True, "min": 0, "max": 9}
WINDOW = {"name": "window", "inputs": 3, "width": 1, "near": 271, "far": 100}


@pytest.mark.parametrize(
    ("question", "encoder", "changes"),
    [
        (NUMBER, {"name": "index", "inputs": 3}, {}),
        (NUMBER, {"name": "grid", "steps": 2, "inputs": 3}, {}),
        (QUESTION | {"options": OPTIONS[:1]}, {"name": "index", "inputs": 3}, {}),
        (QUESTION | {"options": [*OPTIONS, *OPTIONS]}, {"name": "index", "inputs": 3}, {}),
        (QUESTION | {"options": OPTIONS}, {"name": "grid", "steps": 2, "inputs": 3}, {}),
        (QUESTION | {"options": OPTIONS, "epsilon": "one"}, {"name": "index", "inputs": 3}, {}),
        (QUESTION | {"options": OPTIONS}, {"name": "index", "inputs": 3}, {"ratio": ["0", "0"]}),
        (
            QUESTION | {"options": OPTIONS},
            {"name": "index", "inputs": 3},
            {"ratio": ["-271", "-100"]},
        ),
    ],
    ids=["index", "no place to skip", "k+1", "k-1", "grid", "epsilon", "0/0", "negative"],
)
def test_randomizer_that_does_not_fit_its_question_is_refused(
    run: Run, question: dict[str, Any], encoder: dict[str, Any], changes: dict[str, Any]
) -> None:
    one = {"encoder": encoder, "channel": WINDOW, "ratio": ["271", "100"], **changes}
    body = """const survey = {id: 's', questions: [v.question]}, randomizers = {q: v.one};
      try { m.check(survey, randomizers); return (await m.priceOf(survey, randomizers))({}).cost; }
      catch (error) { return error instanceof RangeError; }"""
    assert run("report.js", body, {"question": question, "one": one}) is True
    fitting = {
        "encoder": {"name": "index", "inputs": 3},
        "channel": WINDOW,
        "ratio": ["271", "100"],
    }
    good = {"question": QUESTION | {"options": OPTIONS}, "one": fitting}
    assert run("report.js", body, good) == 996949  # ln 2.71, in millionths, rounded up


FREE = {"encoder": {"name": "index", "inputs": 3}, "channel": WINDOW, "ratio": ["271", "100"]}
ASKED = QUESTION | {"options": OPTIONS}
#: A survey with a memory: ln 3 over all waves.
KEPT = {
    "encoder": {"name": "index", "inputs": 3},
    "permanent": {**WINDOW, "near": 3, "far": 1},
    "channel": {**WINDOW, "near": 2, "far": 1},
    **{"ratio": ["4", "3"], "forever": ["3", "1"]},
}
BOTH = {"encoder": {"name": "index", "inputs": 2}, "channel": {**WINDOW, "inputs": 2}}


@pytest.mark.parametrize(
    ("changes", "randomizer"),
    [
        # With each of these, some answers would be sent and others not.
        ({"shows_if": ["=", "p", "a"], "no_answer": False, "required": True}, {**FREE, **BOTH}),
        ({"shows_if": ["~", "p", 1]}, FREE),
        ({"shows_if": ["or", ["=", "p", "a"], ["~", "p", 1]]}, FREE),
        ({"shows_if": ["=", "q", "a"]}, FREE),
        ({"shows_if": ["not", "p"]}, FREE),
        ({"shows_if": ["<", "p", "a"]}, FREE),
        ({"options": [OPTIONS[0], OPTIONS[0]]}, FREE),
        ({"options": [OPTIONS[0], {"id": "no-answer"}]}, FREE),
        ({"id": "p"}, FREE),
        ({"no_answer": False, "required": False}, {**FREE, **BOTH}),
        # A probability of failing that the survey does not state, or that is no privacy at all.
        ({}, {**FREE, "ratio": ["2", "1"], "delta": ["71", "471"]}),
        ({"delta": 1}, {**FREE, "ratio": ["2", "1"], "delta": ["71", "471"]}),
        # A memory that the survey does not mention, or understates, or that does not exist.
        ({}, KEPT),
        ({"epsilon_forever": 1}, KEPT),
        ({"epsilon_forever": 1}, FREE),
        ({"stable": True}, FREE),
        ({"epsilon_forever": 2, "stable": True, "shows_if": ["=", "p", "a"]}, KEPT),
        # Ids with which messages could be taken for those of another survey.
        *(({"id": one}, FREE) for one in ("q\ud800", "", "Q", "-q", "q" * 65, "\0\0\0\x11q", 3)),
        ({"epsilon_forever": 2, "stable": 1}, KEPT),
        ({"epsilon_forever": 2}, {**KEPT, "forever": ["2", "1"]}),
    ],
)
def test_survey_that_would_leave_some_answers_out_is_refused(
    run: Run, changes: dict[str, Any], randomizer: dict[str, Any]
) -> None:
    first = ASKED | {"id": "p"}
    body = """try { m.check(v, v.randomizers);
        return (await m.priceOf(v, v.randomizers))({}).cost; }
      catch (error) { return error instanceof RangeError; }"""
    asked = {"id": "s", "questions": [first, ASKED], "randomizers": {"p": FREE, "q": FREE}}
    assert run("report.js", body, asked) == 2 * 996949
    fitting = ASKED | {"shows_if": ["and", ["!=", "p", "b"], ["not", ["=", "p", "a"]]]}
    assert run("report.js", body, {**asked, "questions": [first, fitting]}) == 2 * 996949
    kept = {**asked, "questions": [first, ASKED | {"epsilon_forever": 1.1, "stable": True}]}
    # ln (4/3), in millionths, rounded up
    both = {"p": FREE, "q": KEPT}
    assert run("report.js", body, {**kept, "randomizers": both}) == 996949 + 287683
    question = ASKED | changes
    given = {
        "id": "s",
        "questions": [first, question],
        # Names in JSON are texts, whatever the id is.
        "randomizers": {"p": FREE, str(question["id"]): randomizer},
    }
    assert run("report.js", body, given) is True
