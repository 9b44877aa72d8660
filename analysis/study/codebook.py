"""What whoever gets the data must know of a survey: wording, codes, mechanisms, ε, and methods."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.epsilon import MICRO
from analysis.core.table import REPORT
from analysis.estimate.columns.of_survey import debiasing, variable
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import LABELS
from analysis.survey.logic import written
from analysis.survey.question import Question
from analysis.survey.survey import Survey


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
    if question.domain.estimand is Estimand.MEAN:
        unit = f" {survey.text(spec['unit'])}" if "unit" in spec else ""
        labels = {f"{spec['min']}..{spec['max']}": f"Number{unit}", **labels}
    # No-answer last, as in tables.
    ordered = sorted(labels.items(), key=lambda one: one[0] == NO_ANSWER)
    own, codes = variable(question.id), {}
    if randomizer.reports_values:
        codes = {share.term: place for place, share in enumerate(shares)}
    return [
        Code(
            variable=f"{REPORT}{own}",
            code=codes.get(value),
            question=question.id,
            kind=spec["kind"],
            text=survey.wording(question),
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


#: What is written of the intervals that estimates have, by the beginnings of their methods.
_INTERVALS = {
    "clopper-pearson": "Clopper and Pearson's (1934), mapped through the channel",
    "wilson": "Wilson's (1927), mapped through the channel",
    "profile-likelihood": "of the profile likelihood within [0, 1]",
    "feldman-cousins": "Feldman and Cousins's (1998), through the channel",
    "student-t": "Student's",
    "fieller": "Fieller's (1954)",
    "constrained-likelihood": "of the likelihood of a normal mean within its bounds",
    "bounded": "Clopper and Pearson's, by the range of the scores",
    "normal": "normal",
    "least-favorable-score": "all values that no one-sided test excludes",
}


def methods(survey: Survey, wave: int, rows: Sequence[Estimate]) -> str:
    """A paragraph to paste into a paper's section on methods.

    Parameters
    ----------
    survey : Survey
        The version that was asked.
    wave : int
        Which wave.
    rows : sequence of Estimate
        What is reported of it.
    """
    each = "; ".join(
        f"{one.id} by {one.mechanism.name} (ε = {one.randomizer.epsilon:.3g}"
        + (f", δ = {float(one.randomizer.delta):.2g})" if one.randomizer.delta else ")")
        for one in survey.questions
    )
    remembered = [one.id for one in survey.questions if "epsilon_forever" in one.spec]
    memory = (
        f" Devices keep a randomized copy of the answers to {', '.join(remembered)} for all waves, "
        "and randomize it once more for each (Erlingsson, Pihur and Korolova 2014)."
        if remembered
        else ""
    )
    terms: dict[str, list[str]] = {}
    for row in rows:
        words = [word for name, word in _INTERVALS.items() if row.conf_method.startswith(name)]
        of = row.term if row.term in ("mean", *LABELS) else "shares"
        if words and of not in terms.setdefault(words[0], []):
            terms[words[0]].append(of)
    intervals = "; ".join(f"of {', '.join(of)} {word}" for word, of in terms.items())
    nearly = " (those of texts nearly so)" if any(row.kind == "text" for row in rows) else ""
    return (
        f"Answers to \u201c{survey.text(survey.spec['title'])}\u201d (version "
        f"{survey.version[:12]}, wave {wave}, n = {rows[0].n:,}) were randomized on the "
        "respondents' devices before they were sent, so that no true answer was collected (local "
        f"differential privacy; Kasiviswanathan et al. 2011). Mechanisms and ε of one report: "
        f"{each}. A respondent spends ε = {survey.charge / MICRO:.4g} in a wave, and at most "
        f"{survey.cap / MICRO:.4g} on the survey.{memory} Skipped and hidden questions are a value "
        f"of their own that is randomized like any other. Shares are unbiased{nearly} "
        "and not clipped; standard errors include the randomization. Intervals at "
        f"{100 * rows[0].conf_level:g} %: {intervals}. Collected and estimated with deniable."
    )


def _weight(question: Question, value: str) -> str:
    """What the column of a value's debiased weights is called; empty if there is none."""
    own = variable(question.id)
    if question.domain.estimand is Estimand.MEAN:
        return f"debiased_{own}" if value != NO_ANSWER else ""
    names = debiasing(question)[0]
    found = f"{own}_{variable(value)}"
    if found in names:
        return f"debiased_{found}"
    return f"debiased_{found}_yes" if f"{found}_yes" in names else ""
