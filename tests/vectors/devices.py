"""Vectors for a whole device: fit, limits, conditions, charges, work, transcripts."""

import copy
from fractions import Fraction
from typing import Any

import rfc8785
import samples
import whole_surveys
from tape import Tape

from analysis.core.channels.bits import Bits
from analysis.core.encoders import ENCODERS
from analysis.core.encoders.several import Multihot
from analysis.core.epsilon import MICRO, exp_lower, micro, millionths
from analysis.core.memory import Memory, pseudonym
from analysis.core.part_json import read_part, written
from analysis.core.randomizer import Randomizer
from analysis.core.words import seeded_bytes, seeded_words
from analysis.survey.freeze import freeze, thaw
from analysis.survey.kinds import KINDS
from analysis.survey.survey import Survey, version_of
from server.intake.proof_of_work import bits_of, work
from server.store.surveys import described

#: Memories of `multihot` with few bits: options, `at_most`, no-answer, the weights of both channels
#: (one, zero, total), and numbers of waves. Not every bit can be 1 in as many waves as there are
#: ones to share out, so the costs differ if sizes have to sum to all of them.
FEW_BITS: list[tuple[int, int, bool, tuple[int, int, int], tuple[int, int, int], list[int]]] = [
    (7, 5, False, (13, 7, 18), (6, 2, 34), [2, 5, 12, 13]),
    (8, 6, True, (20, 16, 25), (30, 3, 40), [3, 8]),
    (5, 3, False, (12, 3, 32), (8, 1, 10), [3]),
    (5, 5, True, (7, 7, 11), (18, 14, 38), [4]),
    (8, 7, True, (13, 2, 28), (26, 2, 33), [3]),
    (5, 3, True, (2, 1, 8), (16, 7, 17), [4]),
    (8, 8, False, (1, 1, 3), (8, 2, 12), [6]),
    (2, 2, False, (4, 3, 7), (33, 13, 35), [7]),
    (3, 2, False, (28, 22, 30), (13, 3, 19), [6]),
    (7, 7, True, (26, 17, 34), (7, 2, 22), [4]),
]


def few_bits() -> list[dict[str, Any]]:
    """Return costs of waves of a few bits, by both protocols of memories."""
    found = []
    for options, most, skips, permanent, instant, waves in FEW_BITS:
        inputs = options + 1 + skips
        stages = (Bits(inputs, *weights) for weights in (permanent, instant))
        one = Randomizer.remembering(Multihot(options, most, inputs), *stages)
        spent = [[n, one.spent(n), one.spent(n, protocol=1)] for n in waves]
        found.append({"randomizer": one.to_json(), "spent": spent})
    return found


def fit() -> dict[str, Any]:
    """Return questions and encoders, and the places of the encoders that fit each question."""
    encoders = [{"name": name, **numbers} for name, numbers in whole_surveys.FITTING]
    parts = [read_part("encoder", ENCODERS, encoder) for encoder in encoders]
    cases = []
    for question in samples.questions():
        domain = KINDS[question["kind"]].domain(question)
        fitting = [place for place, part in enumerate(parts) if part.fits(domain)]
        cases.append({"question": question, "fitting": fitting})
    return {"encoders": encoders, "cases": cases}


#: Caps as survey files of both formats can have them: a number of at most 15 digits.
_CAPS = (
    *(4, 12.5, 0.3, 20.1, 1.999999, 1e-06, 123456789.123456),
    *(1.9999999999, 1.9999995, 2.0000005, 2.000000999, 0.9999999, 1e-07, 99999999.9999999),
)


def charges() -> dict[str, Any]:
    """Return ratios with their charges, and caps, near whole millionths; and proofs of work."""
    ratios = [Fraction(one) for one in ("1/1", "2/1", "271/100", "3/1", "1000001/1000000")]
    for whole in (1, 2, 999_999, 1_000_000, 4_000_000, 12_345_678):
        # exp_lower is below e^x by less than one part in 2^100.
        ratios.append(exp_lower(Fraction(whole, MICRO)))
        ratios.append(ratios[-1] * (1 + Fraction(1, 2**99)))
    ratios += [Fraction(3) ** 400, Fraction(10**40 + 1, 10**40), Fraction(2**1025 + 1, 2**1024)]
    version, rid = "ab" * 32, "0123456789abcdef" * 2
    numbers = [0, 1, 7, 2**53 - 1, work(9, version, 3, rid)]
    tried = [{"work": number, "bits": bits_of(version, 3, rid, number)} for number in numbers]
    first = [{"bits": bits, "work": work(bits, version, 3, rid)} for bits in (1, 5, 11)]
    who = {"version": version, "wave": 3, "rid": rid}
    return {
        "charges": [{"ratio": written(one).split("/"), "charge": micro(one)} for one in ratios],
        "caps": [{"cap": cap, "millionths": millionths(Fraction(repr(cap)))} for cap in _CAPS],
        "work": [{**who, "tried": tried, "first": first}],
    }


def limits() -> dict[str, Any]:
    """Return surveys, whole or with changes, and whether a device may answer them."""
    cases = []
    for changes, is_sound in whole_surveys.LIMITS:
        data = copy.deepcopy(whole_surveys.LIMITED)
        for path, value in changes.items():
            *parents, last = path.split("/")
            part: Any = data
            for key in parents:
                part = part[int(key)] if isinstance(part, list) else part[key]
            if value is ...:
                del part[last]
            else:
                part[int(last) if isinstance(part, list) else last] = value
        cases.append({**data, "changes": [*changes], "sound": is_sound})
    return {"cases": cases}


def shown() -> list[dict[str, Any]]:
    """Return answers of a survey with conditions, and those that count."""
    survey = freeze(whole_surveys.everything())
    return [
        {"questions": survey.spec["questions"], "answers": answers, "shown": survey.shown(answers)}
        for answers in whole_surveys.ANSWERS
    ]


def transcripts() -> dict[str, Any]:
    """Return whole waves of devices: survey, answers, secret and words to bytes and charge."""
    cases = []
    everything = freeze(whole_surveys.everything())
    for number, answers in enumerate(whole_surveys.ANSWERS):
        cases.append(_transcript(everything, 1, answers, number, {}))
    panel = freeze(samples.panel("Here", "There", "Now", "Think back.", "At work."))
    times: dict[str, int] = {}
    for wave, answers in enumerate(whole_surveys.PANEL_ANSWERS, 1):
        cases.append(_transcript(panel, wave, answers, 7, times))
        times = cases[-1]["times"]
    data = whole_surveys.TOGETHER
    joint = thaw(data, version_of(data))
    for wave, answers in enumerate(whole_surveys.TOGETHER_ANSWERS, 1):
        cases.append(_transcript(joint, wave, answers, 9, {}))
    return {"cases": cases}


def _transcript(
    survey: Survey, wave: int, answers: dict[str, str], device: int, before: dict[str, int]
) -> dict[str, Any]:
    """Return one wave of a device; `before` says how often each of its memories was used."""
    secret = seeded_bytes(32, "device", device)
    rid = seeded_bytes(16, "rid", device, wave).hex()
    unasked: set[str] = set()
    for draw in survey.joint:
        names = [question.id for question in draw.questions]
        places = draw.asked_of(Memory.of(secret, survey.id, draw.id, bytes(32)), wave)
        unasked |= {name for at, name in enumerate(names) if places and at not in places}
    counted = survey.shown(answers | dict.fromkeys(unasked, ""))
    words: dict[str, list[int]] = {}
    reports: dict[str, Any] = {}
    for drawn in survey.draws:
        tape = Tape(seeded_words("transcript", device, wave, drawn.id))
        reports |= drawn.reports(counted, secret, survey.id, tape, wave)
        words[drawn.id] = tape.taken
    who: dict[str, Any] = {"rid": rid, "respondent": pseudonym(secret, survey.id)}
    if survey.access != "open":
        who["token"] = f"{whole_surveys.TOKEN}{device}"
    if survey.proof_of_work:
        who["work"] = work(survey.proof_of_work, survey.version, wave, rid)
    body = {"version": survey.version, "wave": wave, **who, "reports": reports}
    return {
        "open": described(survey, wave, "open"),
        "answers": answers,
        "secret": secret.hex(),
        "rid": rid,
        "token": who.get("token"),
        "words": words,
        "before": before,
        # The text is one of many forms, so that it can be compared: members of an object have no
        # order.
        "body": rfc8785.dumps(body).decode(),
        "charge": survey.charge_after([(survey, wave - 1)]),
        "times": {memo: before.get(memo, 0) + 1 for memo in survey.memos},
    }
