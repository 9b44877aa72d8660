"""The reader of a question's mechanism in a survey file: name, parameters, ε and wishes."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from analysis.core.domain import Domain
from analysis.core.epsilon import LARGEST, MICRO, SMALLEST
from analysis.core.errors import SurveyError
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.base import Mechanism
from analysis.mechanisms.noise import USUAL_DELTA
from analysis.survey.document import Table, plain
from analysis.survey.survey import WISHES, wishes_of

_FRACTION = re.compile(r"\d{1,9}(/[1-9]\d{0,9}|\.\d{1,9})?", re.ASCII)
#: A probability by which nothing is drawn. It may have the digits that small probabilities need to
#: sum to 1.
_LONG_FRACTION = re.compile(r"\d{1,18}(/[1-9]\d{0,17}|\.\d{1,400})?", re.ASCII)


def read_mechanism(table: Table, question: dict[str, Any], domain: Domain) -> None:
    """Add the author's choices about the mechanism to a question.

    Raises
    ------
    SurveyError
        If a name, key, ε or parameter is wrong, or if it does not fit the others.
    """
    mechanism = _named(table, question, domain)
    _read_wishes(table, question, domain, mechanism)
    if mechanism is None or mechanism.parameters is None:
        epsilon = table.number("epsilon", "a number greater than 0", lambda epsilon: epsilon > 0)
        if not SMALLEST <= Fraction(epsilon) <= LARGEST:
            raise table.error("epsilon", f"from {float(SMALLEST)} to {float(LARGEST)}")
        question["epsilon"] = plain(epsilon)
        _read_memory(table, question, epsilon)
        return
    for key in ("epsilon", "epsilon_forever", "stable"):
        table.refuse(key, f"{mechanism.name} has parameters of its own, which give its epsilon")
    try:
        randomizer = mechanism.compile(domain, Fraction(0), wishes_of(question))
    except ValueError as error:
        raise SurveyError(f"{table.place}: {error}") from None
    if randomizer.charge > LARGEST * MICRO:
        raise SurveyError(
            f"{table.place}: {mechanism.name} must give an epsilon of at most {float(LARGEST)}, "
            f"got {randomizer.epsilon:.3g}"
        )
    question["epsilon"] = plain(Decimal(randomizer.charge) / MICRO)


def _read_memory(table: Table, question: dict[str, Any], epsilon: Decimal) -> None:
    """Add the ε of a memory over all waves, if there is one, and whether the answer is stable."""
    forever = table.number(
        "epsilon_forever",
        f"a number greater than epsilon ({epsilon}) and at most {float(LARGEST):g}",
        lambda forever: epsilon < forever <= LARGEST,
        default=Decimal(0),
    )
    stable = table.flag("stable")
    if stable and not forever:
        raise table.error(
            "stable", "left out, or epsilon_forever given, since it is about that cost"
        )
    if stable and "shows_if" in question:
        raise table.error(
            "stable", "left out: with shows_if, a respondent who is not asked has another answer"
        )
    if stable and table.format > 1 and not question["required"]:
        raise table.error(
            "stable",
            "left out, unless required = true: a respondent who skips the question once has "
            "another answer",
        )
    if forever:
        question["epsilon_forever"] = plain(forever)
    if stable:
        question["stable"] = True


def _named(table: Table, question: dict[str, Any], domain: Domain) -> Mechanism | None:
    """Return the mechanism that the author named, or None, and add its name and parameters."""
    given = table.take(
        "mechanism",
        lambda value: isinstance(value, str | dict),
        "the name of a mechanism, or a table of its name and parameters",
        default=None,
    )
    if given is None:
        return None
    part = Table(given, f"{table.place}: mechanism") if isinstance(given, dict) else table
    key = "name" if isinstance(given, dict) else "mechanism"
    name = part.take(key, lambda value: isinstance(value, str), "the name of a mechanism")
    mechanism = MECHANISMS.get(name)
    if mechanism is None or not mechanism.fits(domain):
        fitting = ", ".join(name for name, other in MECHANISMS.items() if other.fits(domain))
        expected = f"one of {fitting}, which fit this question"
        if mechanism is not None and mechanism.fits(domain.required()):
            expected += f" ({name} needs required = true, and no shows_if)"
        elif mechanism is not None and mechanism.parameters is not None and domain.alternatives:
            expected += f" ({name} serves two answers, yes and no)"
        raise part.error(key, expected)
    question["mechanism"] = {"name": name}
    for parameter in mechanism.parameters or ():
        question["mechanism"][parameter] = probability(part, parameter)
    for option in mechanism.options if isinstance(given, dict) else ():
        number = part.take(
            option,
            lambda value: type(value) is int and value >= 1,
            "a whole number, at least 1",
            default=None,
        )
        if number is not None:
            question["mechanism"][option] = number
    if isinstance(given, dict):
        part.finish()
    return mechanism


def probability(part: Table, key: str) -> str:
    """Return a probability as its author wrote it, such as "1/6" or 0.25."""

    def fits(value: Any) -> bool:
        text = str(value) if isinstance(value, Decimal | int) else value
        return isinstance(text, str) and bool(_FRACTION.fullmatch(text)) and 0 < Fraction(text) < 1

    return str(part.take(key, fits, 'a probability between 0 and 1, such as "1/6" or 0.25'))


def entry_of_matrix(part: Table, key: str) -> Fraction:
    """Return a probability from 0 to 1 of a matrix, such as 1e-12, "1/6" or 1."""

    def text_of(value: Any) -> str:
        # A number in a file may have an exponent.
        is_number = isinstance(value, Decimal | int) and not isinstance(value, bool)
        return f"{value:f}" if is_number and abs(value) < 2 else str(value)

    def fits(value: Any) -> bool:
        return bool(_LONG_FRACTION.fullmatch(text_of(value))) and 0 <= Fraction(text_of(value)) <= 1

    expected = 'a probability from 0 to 1, such as "1/6" or 0.25'
    return Fraction(text_of(part.take(key, fits, expected)))


def _read_wishes(
    table: Table, question: dict[str, Any], domain: Domain, mechanism: Mechanism | None
) -> None:
    """Add the keys of `WISHES` that the mechanism uses, and refuse the others."""
    heeded = ("aim", "prior") if mechanism is None else mechanism.heeds
    if domain.aims and "aim" in heeded:
        expected = f"one of {', '.join(domain.aims)}"
        aim = table.take("aim", lambda value: value in domain.aims, expected, None)
        if aim is not None:
            question["aim"] = aim
    if domain.prior_lengths and "prior" in heeded:
        _read_prior(table, question, domain.prior_lengths)
    if "delta" in heeded and table.format > 1:
        table.refuse("delta", "noise is clamped to the range, so epsilon limits every report")
    elif "delta" in heeded:
        usual = Decimal(USUAL_DELTA.numerator) / USUAL_DELTA.denominator
        delta = table.number(
            "delta", "a number between 0 and 1", lambda d: 0 < d < 1, default=usual
        )
        question["delta"] = plain(delta)
    for key in WISHES:
        if key not in question:
            heeding = [
                other.name
                for other in MECHANISMS.values()
                if key in other.heeds and other.fits(domain) and (key != "aim" or domain.aims)
            ]
            what = f"only {', '.join(heeding)} uses" if heeding else "no mechanism uses"
            table.refuse(key, f"{what} it here")


def _read_prior(table: Table, question: dict[str, Any], lengths: range) -> None:
    """Add the relative frequencies that the author expects, if the author gives them."""
    shape = (
        f"one for each of the {lengths[0]} points"
        if len(lengths) == 1
        else f"of {lengths[0]} to {lengths[-1]} equal parts from min to max"
    )
    prior = table.take(
        "prior",
        lambda value: (
            isinstance(value, list)
            and len(value) in lengths
            and all(type(part) is int or isinstance(part, Decimal) for part in value)
            and all(Decimal(part).is_finite() and 0 <= part < 10**9 for part in value)
            and sum(value) > 0
        ),
        f"a list of relative frequencies, {shape}",
        default=None,
    )
    if prior is not None:
        question["prior"] = [plain(Decimal(part)) for part in prior]
