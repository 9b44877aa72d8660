"""Two respondents with different answers differ only in what a channel drew."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector, Relay
from device import (
    CANARIES,
    READ_MEMO,
    SURVEY,
    Device,
    begin,
    expect_state,
    fill_in,
    press,
    review,
)
from playwright.sync_api import expect
from watchers import with_fixed_randomness

#: There are enough pets for a channel that reports sets of them.
PETS = "".join(f'  {{id = "pet-{n}", text = "Pet {n}"}},\n' for n in range(9))
WIDE = SURVEY.replace('  {id = "cat"', f'{PETS}  {{id = "cat"')
# Devices remember this question, which must not show in what they store either.
WIDE = WIDE.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)
RESPONDENTS: list[dict[str, str]] = [
    CANARIES,
    {"smoked": "yes", "pet": "pet-3", "team": "office", "debts": "0"},
    {"smoked": "no", "team": "office", "debts": "100000000"},
    {"team": "lab"},
    {"smoked": "no-answer", "team": "lab"},
]
#: Answers that are drawn together: options and values in one table, some of many in another.
SOME = ("a", "b", "c", "d")
TABLES = """
title = "Work"
id = "work"
[[together]]
id = "all"
questions = ["smoked", "ways", "team"]
epsilon = 3
epsilon_each = 1.5
[[together]]
id = "some"
questions = ["a", "b", "c", "d"]
epsilon = 2
epsilon_each = 1.5
ask = 2
[[questions]]
id = "smoked"
kind = "yes-no"
text = "Did you smoke?"
[[questions]]
id = "ways"
kind = "choices"
text = "What?"
at_most = 2
options = [{id = "pipe", text = "Pipe"}, {id = "weed", text = "Weed"}, {id = "tea", text = "Tea"}]
shows_if = "smoked = 'yes'"
[[questions]]
id = "team"
kind = "choice"
text = "Where do you work?"
required = true
options = [{id = "lab", text = "Laboratory"}, {id = "office", text = "Office"}]
""" + "".join(
    f"""[[questions]]\nid = "{one}"\nkind = "yes-no"\ntext = "{one}?"\n""" for one in SOME
)
IN_TABLES: list[dict[str, str]] = [
    {"smoked": "yes", "ways": "pipe|tea", "team": "lab", **dict.fromkeys(SOME, "yes")},
    {"smoked": "yes", "ways": "none", "team": "office", **dict.fromkeys(SOME, "no")},
    {"smoked": "yes", "team": "lab", "a": "yes", "b": "no", "c": "yes", "d": "no"},
    {"smoked": "no", "team": "office"},
    {"team": "lab", **dict.fromkeys(SOME, "no-answer")},
]
MakeDevice = Callable[..., Device]
MakeRelay = Callable[[Collector], Relay]


#: Where client/report.js puts a report together.
REPORT = "new FrozenReport(JSON.stringify({ version"


def shape(value: Any) -> Any:
    """Return JSON without its numbers and strings."""
    if isinstance(value, dict):
        return [(key, shape(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [shape(one) for one in value]
    return type(value).__name__


def traces(
    make: MakeDevice,
    relay: MakeRelay,
    served: Collector,
    respondents: list[dict[str, str]],
    text: str = WIDE,
) -> list[Any]:
    """Return for each respondent the requests, the body, and what the device keeps."""
    found = []
    for answers in respondents:
        survey, device, wire = served.publish(text), with_fixed_randomness(make()), relay(served)
        page = device.visit(f"{wire.url}/s/{survey}")
        expect_state(page, "ready")
        begin(page)
        unasked = [one for one in SOME if page.locator(f"[data-question={one}]").is_hidden()]
        fill_in(page, {name: answer for name, answer in answers.items() if name not in unasked})
        review(page)
        press(page)
        expect(page.locator("#receipt")).to_be_visible()
        targets = sorted(f"{one} {to.replace(survey, 'ID')}" for one, to in wire.targets())
        kept = page.evaluate(READ_MEMO)
        kept = {name.replace(survey, "ID"): memo for name, memo in kept.items()}
        (body,) = device.posted()
        sent = json.loads(body)
        # Each respondent has a survey alone, whose id is in the version and the pseudonym.
        sent["version"] = sent["respondent"] = "x"
        found.append((targets, sent, kept))
    return found


def check_alike(found: list[Any]) -> None:
    """Check that except for the drawn reports, no trace distinguishes one respondent's answers."""
    for targets, sent, kept in found:
        assert targets == found[0][0]
        assert shape(sent) == shape(found[0][1])
        assert {**sent, "reports": 0} == {**found[0][1], "reports": 0}
        assert kept == found[0][2]


def test_respondents_leave_the_same_traces(
    new_device: MakeDevice, collector: Collector, relay: MakeRelay
) -> None:
    found = traces(new_device, relay, collector, RESPONDENTS)
    check_alike(found)
    # The answers do reach the channels: with equal randomness, reports differ.
    assert len({json.dumps(sent["reports"]) for _, sent, _ in found}) > 1
    assert any(isinstance(report, list) for report in found[0][1]["reports"].values())


def test_respondents_of_tables_leave_the_same_traces(
    new_device: MakeDevice, collector: Collector, relay: MakeRelay
) -> None:
    found = traces(new_device, relay, collector, IN_TABLES, TABLES)
    samples = set()
    for _, sent, _ in found:
        # Each respondent has a survey alone, for which the device draws other questions.
        reports = sent["reports"]
        samples.add(tuple(name for name in SOME if reports[name]))
        sent["reports"] = {name: reports[name] for name in reports if name not in SOME}
        sent["reports"]["some"] = sorted((reports[name] for name in SOME), key=len)
    check_alike(found)
    assert len({json.dumps(sent["reports"]) for _, sent, _ in found}) > 1
    assert all(len(sample) == 2 for sample in samples)
    # Not even the number of bytes depends on an answer.
    assert len({len(json.dumps(sent)) for _, sent, _ in found}) == 1


@pytest.mark.more
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report.js", "...who, reports", "...who, rid: prepared.smoked.value === 0 ? who.rid : "
         "who.rid.replace(/./g, '0'), reports"),
        ("report.js", f"return {REPORT}", "if (prepared.smoked.value !== 0) delete "
         f"reports.pet;\n  return {REPORT}"),
        ("report.js", f"return {REPORT}", "if (!prepared.debts.value) reports.debts = null;\n"
         f"  return {REPORT}"),
        ("page/survey.js", "key, price, make", "key, Object.assign((times) => ({ ...price(times), "
         "cost: price(times).cost - (given.debts ? 0 : 1e6) }), price), make"),
        ("page/survey.js", "key, price, make", "key, Object.assign((times) => ({ ...price(times), "
         "times: { ...price(times).times, [prepared.smoked.value]: 1 } }), price), make"),
        ("page/survey.js", "const who =", "if (given.debts) await fetch('/client/exact.js?');\n"
         "  const who ="),
    ],
    ids=["rid", "hidden is missing", "skipped is null", "cheaper", "kept", "one more request"],
)  # fmt: skip
def test_comparison_catches_a_client_that_distinguishes_answers(
    new_device: MakeDevice,
    serve_client: Callable[..., Collector],
    relay: MakeRelay,
    name: str,
    old: str,
    new: str,
) -> None:
    served = serve_client((name, old, new))
    found = traces(new_device, relay, served, [RESPONDENTS[0], RESPONDENTS[3]])
    with pytest.raises(AssertionError):
        check_alike(found)
