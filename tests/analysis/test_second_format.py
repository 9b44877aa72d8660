"""What files of the second format may not say, and what reports of the first really cost."""

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest

from analysis.core.domain import Numbers
from analysis.core.epsilon import MICRO, exp_lower
from analysis.core.errors import SurveyError
from analysis.mechanisms import MECHANISMS
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on
from analysis.survey.survey_file import read_survey

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))
import laws

EARLIER = Path(__file__).parent / "earlier_releases/1.0"

HEAD = 'format = 2\nid = "s"\ntitle = "S"\n[[questions]]\nid = "q"\ntext = "?"\n'
NUMBER = HEAD + 'kind = "number"\nmin = 0\nmax = 10\nrequired = true\nepsilon = 1\n'
YES_NO = HEAD + 'kind = "yes-no"\nepsilon = 1\n'
NOISE = [name for name, mechanism in MECHANISMS.items() if "steps" in mechanism.options]

Read = Callable[[str], Survey]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def call(text: str) -> Survey:
        file = tmp_path / "s.toml"
        file.write_text(text)
        return read_survey(file)

    return call


def proves(charge: int, ratio: Fraction) -> bool:
    """Return whether a charge in millionths of ε proves a ratio."""
    return ratio <= exp_lower(Fraction(charge, MICRO))


def largest_ratio(question: Question) -> Fraction:
    """Return the largest ratio of the probabilities of a report, by enumeration of its law."""
    every = [laws.law(question.randomizer, value) for value in laws.values_of(question.domain)]
    return max(
        one[report] / other[report] for one, other in product(every, repeat=2) for report in one
    )


def histories(waves: int) -> Iterator[tuple[int, ...]]:
    """Yield all histories of a fact, yes (0) or no (1), of somebody who may skip waves (2)."""
    for fact in (0, 1):
        yield from product((fact, 2), repeat=waves)


def largest_ratio_of_waves(question: Question, waves: int) -> Fraction:
    """Return the largest ratio of all reports of some waves, by enumeration of all histories."""
    assert question.randomizer.stages is not None
    permanent, instant = (
        [dict(channel.distribution(symbol)) for symbol in range(channel.inputs)]
        for channel in question.randomizer.stages
    )

    def chance(reports: tuple[int, ...], history: tuple[int, ...]) -> Fraction:
        """Return the probability of reports; each symbol has one permanent draw for all waves."""
        of_symbols = (
            sum(
                weight
                * prod(
                    (
                        instant[kept].get(report, Fraction(0))
                        for report, input_ in zip(reports, history, strict=True)
                        if input_ == symbol
                    ),
                    start=Fraction(1),
                )
                for kept, weight in permanent[symbol].items()
            )
            for symbol in range(len(permanent))
        )
        return prod(of_symbols, start=Fraction(1))

    return max(
        max(column) / min(column)
        for reports in product(range(len(permanent)), repeat=waves)
        for column in [[chance(reports, history) for history in histories(waves)]]
    )


@pytest.mark.parametrize("file", ["noise-with-delta", "noise-and-memory", "fine-cap"])
def test_no_report_is_charged_less_than_its_law_shows(file: str) -> None:
    for question in read_survey(EARLIER / f"{file}.toml").questions:
        ratio = largest_ratio(question)
        assert proves(question.randomizer.charge, ratio)
        assert not proves(question.randomizer.charge - 1, ratio)
        # What the first format states is less, and is kept only to accept what was drawn by it.
        stated = question.spent(1, stated=True)
        assert proves(stated, ratio) == (question.randomizer.limit is None)


@pytest.mark.parametrize("waves", [1, 2, 3, 4])
def test_a_stable_answer_that_can_be_skipped_is_charged_what_skips_show(waves: int) -> None:
    survey = read_survey(EARLIER / "stable-with-skips.toml")
    (question,) = survey.questions
    ratio = largest_ratio_of_waves(question, waves)
    assert proves(spent_on([(survey, waves)]), ratio)
    assert proves(spent_on([(survey, waves)], stated=True), ratio) == (waves == 1)


def test_two_hundred_reports_cost_what_they_reveal() -> None:
    # ε = .001 was stated, with δ = .01 and a cap of .2: enough for 200 reports, it was said.
    survey = read_survey(EARLIER / "noise-with-delta.toml")
    assert spent_on([(survey, 200)], stated=True) == survey.cap == 200_000
    assert spent_on([(survey, 200)]) == 4_219_400


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "4", "12"])
@pytest.mark.parametrize("steps", [1, 2, 10])
@pytest.mark.parametrize("name", NOISE)
def test_noise_of_the_second_format_is_pure(
    read: Read, name: str, steps: int, epsilon: str
) -> None:
    mechanism = f'mechanism = {{name = "{name}", steps = {steps}}}\n'
    text = NUMBER.replace("epsilon = 1", f"epsilon = {epsilon}")
    (question,) = read(text + mechanism).questions
    assert "delta" not in question.spec
    assert set(question.randomizer.to_json()) == {"encoder", "channel", "ratio"}
    assert isinstance(question.domain, Numbers)
    ratio = largest_ratio(question)
    assert proves(round(float(epsilon) * MICRO), ratio)
    # Little ε is left unused, but rounding to weights of 32 bits takes some where it is large.
    assert question.randomizer.epsilon > 0.999 * float(epsilon)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            NUMBER + 'mechanism = "gaussian"\ndelta = 1e-6\n',
            'question "q": delta must be left out: noise is clamped to the range, so epsilon '
            "limits every report, got 0.000001",
        ),
        (
            YES_NO + "epsilon_forever = 2\nstable = true\n",
            'question "q": stable must be left out, unless required = true: a respondent who skips '
            "the question once has another answer, got true",
        ),
        (
            YES_NO + "[privacy]\ncap = 1.9999999999\n",
            "[privacy]: cap must be a number of at most six decimals, got 1.9999999999",
        ),
        (YES_NO.replace("= 2", "= 3", 1), "format must be one of 1, 2, got 3"),
        (YES_NO.replace("= 2", '= "2"', 1), 'format must be one of 1, 2, got "2"'),
    ],
)
def test_the_second_format_refuses_what_costs_more_than_it_states(
    read: Read, text: str, message: str
) -> None:
    with pytest.raises(SurveyError) as error:
        read(text)
    assert str(error.value).endswith(f"s.toml: {message}")


def test_the_first_format_may_still_say_it(read: Read) -> None:
    first = (EARLIER / "noise-and-memory.toml").read_text()
    assert read(first).version == read("format = 1\n" + first).version
    assert read(YES_NO.replace("format = 2\n", "")).version != read(YES_NO).version
