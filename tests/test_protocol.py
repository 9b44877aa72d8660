"""The code of the protocol's pages, taken from them, agrees with the vectors and the schema."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rfc8785
from openapi_schema_validator import OAS31Validator

from server.openapi import protocol_schema

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs" / name for name in ("protocol.md", "protocol-waves.md")]
VECTORS = ROOT / "tests/vectors"
CHANNELS = ("window", "subset", "overlap", "bits", "shift", "table")


def _vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text())
    return found


@pytest.fixture(scope="module")
def code() -> Any:
    """Return the names that the pages define; only RFC 8785 is given to them."""
    names: dict[str, Any] = {"canonical": rfc8785.dumps}
    for page in PAGES:
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
            exec(compile(block, page.name, "exec"), names)
    return SimpleNamespace(**names)


def _drawn(words: list[int], draw: Callable[[Iterator[int]], Any]) -> Any:
    """Return the draw from these words, all of which must be used."""
    left = iter(words)
    result = draw(left)
    assert list(left) == []
    return result


def _check_refused(code: Any, action: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> None:
    calls = [*calls]
    assert calls
    for call in calls:
        with pytest.raises(code.Refused):
            action(*call)


def _given(value: Any, encoder: dict[str, Any]) -> Any:
    return Fraction(value) if encoder["name"] == "grid" and value is not None else value


def test_words_and_texts_are_drawn_and_hashed_as_the_vectors_say(code: Any) -> None:
    for case in [*_vector("words")["below"], *_vector("together")["below"]]:
        assert _drawn(case["words"], partial(code.below, case["total"])) == case["result"]
    for case in _vector("words")["bernoulli"]:
        coin = partial(code.coin, Fraction(case["chance"]))
        assert _drawn(case["words"], coin) == case["result"]
    for case in _vector("texts")["words"]:
        end = case["start"] + len(case["words"])
        words = islice(code.of_text(case["what"], case["text"]), case["start"], end)
        assert [*words] == case["words"]
    for case in _vector("texts")["normalized"]:
        assert code.normalized(case["text"]) == case["normalized"]


@pytest.mark.parametrize("name", CHANNELS)
def test_channels_draw_and_have_the_ratios_of_the_vectors(code: Any, name: str) -> None:
    found = _vector(name)
    for case in found["cases"]:
        channel = case["channel"]
        code.check_part(code.CHANNELS, channel)
        assert code.largest_ratio(channel, case["apart"]) == code.fraction(case["ratio"])
        for one in case["draws"]:
            draw = partial(code.draw, channel, one["symbol"])
            assert _drawn(one["words"], draw) == one["report"]
    _check_refused(code, code.check, ((case["randomizer"],) for case in found["refused"]))


def test_encoders_encode_as_the_vectors_say(code: Any) -> None:
    found = _vector("encoders")
    for case in found["cases"]:
        encoder, value = case["encoder"], _given(case["value"], case["encoder"])
        code.check_part(code.ENCODERS, encoder)
        draw = partial(code.encode, encoder, value, case["cohort"])
        assert _drawn(case["words"], draw) == case["symbol"], case
    _check_refused(code, code.check, ((case["randomizer"],) for case in found["refused"]))


def _check_reports(code: Any, case: dict[str, Any], memory: Callable[..., Any]) -> None:
    randomizer = case["randomizer"]
    code.check(randomizer)
    for one in case["draws"]:
        value = _given(one["value"], randomizer["encoder"])
        words = iter(one["words"])
        report = code.report_of(randomizer, value, words, memory(one, words))
        assert [report, *words] == [one["report"]]


def test_randomizers_report_as_the_vectors_say(code: Any) -> None:
    found = _vector("randomizers")
    for case in found["cases"]:
        # A device that is used once draws from fresh words what it would remember.
        _check_reports(code, case, lambda one, words: lambda *what: words)
        ratio = code.fraction(case["randomizer"]["ratio"])
        assert code.ln(ratio) == pytest.approx(case["epsilon"], abs=1e-12)
    _check_refused(code, code.check, ((case["randomizer"],) for case in found["refused"]))


@pytest.mark.parametrize("name", ["cases", "texts"])
def test_memories_are_kept_as_the_vectors_say(code: Any, name: str) -> None:
    found = _vector("remembered")
    for case in found[name]:
        digest = bytes.fromhex(case["digest"])

        def memory(one: Any, _: Any, case: Any = case, digest: bytes = digest) -> Any:
            secret = bytes.fromhex(one["secret"])
            start = secret, case["survey"], case["question"], digest
            return lambda *what: code.remembered(*start, *what)

        _check_reports(code, case, memory)
    _check_refused(code, code.check, ((case["randomizer"],) for case in found["refused"]))


def _check_costs(code: Any, few: bool) -> None:
    """Compare costs of few waves, or of as many as take the code of the pages long."""
    for case in [*_vector("remembered")["cases"], *_vector("remembered")["texts"]]:
        for reports, cost, stable in case["spent"]:
            if few == (reports < 6):
                assert code.W(case["randomizer"], reports, memory=1) == cost
                assert code.W(case["randomizer"], reports, stable=True) == stable
    for case in _vector("memories")["bits"]:
        for reports, second, first in case["spent"]:
            if few == (reports < 6):
                assert code.W(case["randomizer"], reports) == second
            if few == (reports < 6) or not few:
                assert code.W(case["randomizer"], reports, memory=1) == first


def test_few_waves_cost_what_the_vectors_say(code: Any) -> None:
    _check_costs(code, few=True)


@pytest.mark.more
def test_many_waves_cost_what_the_vectors_say(code: Any) -> None:
    _check_costs(code, few=False)


def test_prices_and_digests_of_versions_are_those_of_the_vectors(code: Any) -> None:
    found = _vector("memories")
    for case in found["digests"]:
        survey, randomizers = case["survey"], case["randomizers"]
        for question in survey["questions"]:
            if question["kind"] != "note":
                one = survey, question, randomizers[question["id"]]
                told = [code.digest_of(*one).hex(), code.meaning_of(*one).hex()]
                assert told == case["digests"][question["id"]]
    for case in found["prices"]:
        times: dict[str, int] = {}
        spent = 0
        for place, cost, _ in case["waves"]:
            version = case["versions"][place]
            more, times = code.price(version["survey"], version["randomizers"], times)
            spent += more
            assert spent == cost
    for case in _vector("versions")["cases"]:
        assert code.version_of(case["survey"], case["randomizers"]) == case["version"]


def test_answers_have_the_values_of_the_vectors(code: Any) -> None:
    found = _vector("answers")
    for case in found["values"]:
        question, expected = case["question"], case["value"]
        if expected is not None and question["kind"] == "number":
            expected = Fraction(expected)
        value = code.value_of(case["answer"], question)
        if value is None and expected is not None:
            value = len(question["options"])  # in the vectors it is a place
        assert value == expected, case
    _check_refused(
        code, code.value_of, ((case["answer"], case["question"]) for case in found["refused"])
    )


def test_conditions_hold_as_the_vectors_say(code: Any) -> None:
    for case in _vector("logic")["cases"]:
        assert code.holds(case["condition"], case["answers"]) == case["holds"]
    for case in _vector("logic")["shown"]:
        assert code.counted(case, case["answers"]) == case["shown"]


def test_surveys_fit_and_are_refused_as_the_vectors_say(code: Any) -> None:
    found = _vector("fit")
    for case in found["cases"]:
        fits = [code.fits(encoder, case["question"]) for encoder in found["encoders"]]
        assert [place for place, one in enumerate(fits) if one] == case["fitting"]
    cases = _vector("limits")["cases"]
    for case in cases:
        if case["sound"]:
            code.check_survey(case["survey"], case["randomizers"])
    broken = ((one["survey"], one["randomizers"]) for one in cases if not one["sound"])
    _check_refused(code, code.check_survey, broken)


def test_charges_work_and_pseudonyms_are_those_of_the_vectors(code: Any) -> None:
    found = _vector("charges")
    for case in found["charges"]:
        assert code.micro(code.fraction(case["ratio"])) == case["charge"]
    for case in found["caps"]:
        assert code.millionths(case["cap"]) == case["millionths"]
    for case in _vector("randomizers")["cases"]:
        assert code.W(case["randomizer"], 1) == case["charge"]
    for case in found["work"]:
        who = case["version"], case["wave"], case["rid"]
        for one in [*case["tried"], *case["first"]]:
            assert code.has_worked(one["bits"], *who, one["work"])
        for one in case["tried"]:
            assert not code.has_worked(one["bits"] + 1, *who, one["work"])
    for case in _vector("pseudonyms")["cases"]:
        told = code.pseudonym(bytes.fromhex(case["secret"]), case["survey"])
        assert told == case["respondent"]


def test_questions_are_drawn_together_as_the_vectors_say(code: Any) -> None:
    found = _vector("together")
    for case in [*found["cases"], found["asked"]]:
        joint = case["joint"]
        everyone = tuple(range(len(joint["encoders"])))
        if "epsilons" in case:
            code.check_joint(joint, [everyone])
        for one in case["draws"]:
            asked = tuple(one.get("asked", everyone))
            draw = partial(code.reports_together, joint, one["values"], asked=asked)
            assert _drawn(one["words"], draw) == one["reports"]
    refused = (
        (one["joint"], [*map(tuple, one.get("samples", [range(len(one["joint"]["encoders"]))]))])
        for one in found["refused"]
    )
    _check_refused(code, code.check_joint, refused)
    for case in found["asked"]["samples"]:
        every = code.sets_asked(case, case["table"])
        assert [*map(list, every)] == case["every"]
        for one in case["drawn"]:
            secret = bytes.fromhex(one["secret"])
            start = secret, case["survey"], case["table"]["id"], bytes(32)
            words = code.remembered(*start, "asked", one["wave"], 0)
            asked = every[code.below(len(every), words)]
            names = enumerate(case["table"]["questions"])
            assert [name for place, name in names if place not in asked] == one["unasked"]


def test_whole_waves_are_those_of_the_vectors(code: Any) -> None:
    for case in _vector("transcripts")["cases"]:
        opened, words = case["open"], {name: iter(one) for name, one in case["words"].items()}
        secret = bytes.fromhex(case["secret"])
        body = code.body_of(opened, case["answers"], secret, words, case["rid"], case["token"])
        assert rfc8785.dumps(body).decode() == case["body"]
        assert all(list(left) == [] for left in words.values())
        price = code.price(opened["survey"], opened["randomizers"], case["before"])
        assert price == (case["charge"], case["times"])
        unknown = opened | {"protocol": "deniable-2"}
        with pytest.raises(code.Refused):
            code.body_of(unknown, case["answers"], secret, words, case["rid"], case["token"])


def test_the_schema_is_that_of_the_api_and_holds_of_the_transcripts() -> None:
    schema = json.loads((ROOT / "docs/protocol.schema.json").read_text())
    # If this fails on purpose, run: python tests/vectors/generate.py
    assert schema == protocol_schema()
    got, sent = (
        OAS31Validator({**schema, "$ref": f"#/$defs/{name}"})
        for name in ("OpenSurvey", "Submission")
    )
    for case in _vector("transcripts")["cases"]:
        got.validate(case["open"])
        got.validate({key: one for key, one in case["open"].items() if key != "protocol"})
        sent.validate(json.loads(case["body"]))
        assert not got.is_valid(case["open"] | {"protocol": "deniable-2"})
        assert not sent.is_valid(json.loads(case["body"]) | {"protocol": "deniable-1"})
