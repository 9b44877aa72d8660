"""What whoever gets the data must know of a survey: wording, codes, mechanisms, ε, and methods."""

from dataclasses import dataclass

from analysis.channels.one_symbol import OneSymbol
from analysis.columns.of_survey import debiasing, variable
from analysis.domain import NO_ANSWER, Numbers
from analysis.encoders.categories import Index
from analysis.epsilon import MICRO
from analysis.logic import written
from analysis.survey import Question, Survey


@dataclass(frozen=True)
class Code:
    """One value of one question; the columns of the codebook.

    `variable` is what the column of reports is called, `code` the report that reads like this value
    (None where reports are sets, bits, or symbols that stand for no value), and `weight` that of
    the debiased weights of this value, empty if there is none. `p` and `q` are the probabilities
    that a report supports the value if it is the true one, and if another is; None where reports do
    not support values.
    `epsilon` is that of one report. `asked` is the condition on which a question is shown.
    """

    variable: str
    code: int | None
    question: str
    kind: str
    text: str
    asked: str
    value: str
    label: str
    weight: str
    mechanism: str
    epsilon: float
    delta: float
    p: float | None
    q: float | None


def codebook(survey: Survey) -> list[Code]:
    """A row for each value of each question, in the survey's order."""
    return [code for question in survey.questions for code in _codes(survey, question)]


def _codes(survey: Survey, question: Question) -> list[Code]:
    spec, randomizer = question.spec, question.randomizer
    shares = question.mechanism.shares(randomizer, question.domain).values
    support = {share.term: (float(share.p), float(share.q)) for share in shares}
    labels = survey.labels(question)
    if not spec["no_answer"]:
        del labels[NO_ANSWER]
    if isinstance(question.domain, Numbers):
        unit = f" {spec['unit']}" if "unit" in spec else ""
        labels = {f"{spec['min']}..{spec['max']}": f"Number{unit}", **labels}
    # No-answer last, as in tables.
    ordered = sorted(labels.items(), key=lambda one: one[0] == NO_ANSWER)
    own, codes = variable(question.id), {}
    if isinstance(randomizer.encoder, Index) and isinstance(randomizer.channel, OneSymbol):
        codes = {share.term: place for place, share in enumerate(shares)}
    return [
        Code(
            variable=f"noisy_{own}",
            code=codes.get(value),
            question=question.id,
            kind=spec["kind"],
            text=survey.text(spec["text"]),
            asked=written(spec["shows_if"]) if "shows_if" in spec else "",
            value=value,
            label=label,
            weight=_weight(question, value),
            mechanism=question.mechanism.name,
            epsilon=randomizer.epsilon,
            delta=float(randomizer.delta),
            p=support.get(value, (None, None))[0],
            q=support.get(value, (None, None))[1],
        )
        for value, label in ordered
    ]


def methods(survey: Survey, wave: int, reports: int, confidence_level: float) -> str:
    """A paragraph to paste into a paper's section on methods.

    Parameters
    ----------
    survey : Survey
        The version that was asked.
    wave, reports : int
        Which wave, and how many respondents it had.
    confidence_level : float
        Of the intervals that are reported.
    """
    each = "; ".join(
        f"{one.id} by {one.mechanism.name} (ε = {one.randomizer.epsilon:.3g}"
        + (f", δ = {float(one.randomizer.delta):.2g})" if one.randomizer.delta else ")")
        for one in survey.questions
    )
    remembered = sum("epsilon_forever" in one.spec for one in survey.questions)
    memory = (
        f" Devices remember a permanent draw of {remembered} of the answers over waves "
        "(Erlingsson, Pihur and Korolova 2014)."
        if remembered
        else ""
    )
    return (
        f"Answers to \u201c{survey.text(survey.spec['title'])}\u201d (version "
        f"{survey.version[:12]}, wave {wave}, n = {reports:,}) were randomized on the respondents' "
        "devices before they were sent, so that no true answer was collected (local differential "
        f"privacy; Kasiviswanathan et al. 2011). Mechanisms and ε of one report: {each}. "
        f"A respondent spends ε = {survey.charge / MICRO:.4g} in a wave, and at most "
        f"{survey.cap / MICRO:.4g} on the survey.{memory} Skipped and hidden questions are a value "
        "of their own that is randomized like any other. Shares are unbiased and not clipped; "
        "their standard errors include the randomization. "
        f"{100 * confidence_level:g} % intervals of shares are Clopper and Pearson's (1934), "
        "mapped through the channel, where a report supports a value or does not; the column "
        "conf_method names all others. Collected and estimated with deniable."
    )


def _weight(question: Question, value: str) -> str:
    """What the column of a value's debiased weights is called; empty if there is none."""
    own = variable(question.id)
    if isinstance(question.domain, Numbers):
        return f"debiased_{own}" if value != NO_ANSWER else ""
    names = debiasing(question)[0]
    found = f"{own}_{variable(value)}"
    if found in names:
        return f"debiased_{found}"
    return f"debiased_{found}_yes" if f"{found}_yes" in names else ""
