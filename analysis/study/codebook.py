"""What readers of the data must know of a survey: wording, codes, mechanisms, ε, and methods."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from analysis.core.csv_json import REPORT
from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.epsilon import MICRO
from analysis.estimate.columns.of_survey import debiasing, variable
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import LABELS
from analysis.survey.logic import written
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Code:
    """One value of one question; the columns of the codebook.

    `variable` is the name of the column of reports, `weight` that of the column of debiased weights
    of this value, empty if there is none. `code` is the report that reads like this value; None
    where reports are sets, bits, or symbols that stand for no value. `p` and `q` are the
    probabilities that a report supports the value if it is the true one, and if another is; None
    where reports do not support values. `epsilon` is that of one report. `asked` is the condition
    on which a question is shown. `reason` is why its author chose this ε, empty if none is given.
    `earlier_labels` are those of earlier versions that were declared to mean the same, joined by
    `` | ``.
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
    reason: str
    earlier_labels: str


def codebook(survey: Survey, corrected: Sequence[Survey] = ()) -> list[Code]:
    """Return a row for each value of each question, in the survey's order.

    `corrected` are earlier versions that can be pooled with this one, since their labels were
    declared to mean the same.
    """
    return [code for question in survey.questions for code in _codes(survey, question, corrected)]


def _codes(survey: Survey, question: Question, corrected: Sequence[Survey]) -> list[Code]:
    spec, randomizer = question.spec, question.randomizer
    shares = question.mechanism.shares(randomizer, question.domain).values
    support = {share.term: (float(share.p), float(share.q)) for share in shares}
    # What is drawn together is a set of values, often of one.
    of_one = question.place and question.domain.alternatives and randomizer.channel.size == 1
    names_one = randomizer.reports_values or of_one
    codes = {share.term: code for code, share in enumerate(shares) if names_one}
    labels = survey.labels(question)
    if not spec["no_answer"]:
        del labels[NO_ANSWER]
    if question.domain.estimand is Estimand.MEAN:
        unit = f" {survey.text(spec['unit'])}" if "unit" in spec else ""
        labels = {f"{spec['min']}..{spec['max']}": f"Number{unit}", **labels}
    return [
        Code(
            variable=f"{REPORT}{variable(question.id)}",
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
            reason=survey.text(reason) if (reason := survey.reason_of(question)) else "",
            earlier_labels=" | ".join(_earlier(question, value, label, corrected)),
        )
        # No-answer last, as in tables.
        for value, label in sorted(labels.items(), key=lambda item: item[0] == NO_ANSWER)
    ]


def _earlier(question: Question, value: str, label: str, corrected: Sequence[Survey]) -> list[str]:
    """Return the labels that a value had in other versions, each once, without today's."""
    before = [
        other.labels(asked).get(value, label)
        for other in corrected
        for asked in other.questions
        if asked.id == question.id
    ]
    return [one for one in dict.fromkeys(before) if one != label]


#: How the intervals of estimates are described, by the beginnings of their methods.
_INTERVALS = {
    "clopper-pearson": "Clopper and Pearson's (1934), mapped through the channel",
    "wilson": "Wilson's (1927), mapped through the channel",
    "profile-likelihood": "those of the profile likelihood within [0, 1]",
    "feldman-cousins": "Feldman and Cousins's (1998), through the channel",
    "student-t": "Student's",
    "fieller": "Fieller's (1954)",
    "constrained-likelihood": "those of the likelihood of a normal mean within its bounds",
    "bounded": "Clopper and Pearson's, by the range of the scores",
    "normal": "those of the normal law",
    "least-favorable-score": "all values that no one-sided test excludes",
}


def methods(survey: Survey, wave: int, rows: Sequence[Estimate], reports: int) -> str:
    """Return a paragraph to paste into a paper's section on methods.

    `survey` is the version that was asked, `rows` the estimates of the wave that are reported, and
    `reports` the number of reports that they are made of.
    """
    each = "; ".join(
        f"{question.id} by {question.mechanism.name} (ε = {question.randomizer.epsilon:.3g}"
        + (f", δ = {float(question.randomizer.delta):.2g})" if question.randomizer.delta else ")")
        for question in survey.questions
    )
    together = "".join(
        f" The answers to {', '.join(question.id for question in draw.questions)}"
        + (
            f", of which each respondent was asked {draw.asks}, drawn at random,"
            if draw.randomizer.asks_some
            else ""
        )
        + f" went into one draw of ε = {draw.randomizer.charge / MICRO:.4g} together; the ε above "
        "is what somebody who knows the others learns of one. Products of their debiased reports "
        "are biased."
        for draw in survey.joint
    )
    remembered = [
        question.id for question in survey.questions if "epsilon_forever" in question.spec
    ]
    memory = (
        f" Devices keep a randomized copy of the answers to {', '.join(remembered)} for all waves, "
        "and randomize it once more for each (Erlingsson, Pihur and Korolova 2014)."
        if remembered
        else ""
    )
    items = {
        (question.id, item)
        for question in survey.questions
        if question.domain.estimand is not Estimand.MEAN
        for item in question.domain.mean_terms
    }
    terms: dict[str, list[str]] = {}
    for row in rows:
        words = [word for name, word in _INTERVALS.items() if row.conf_method.startswith(name)]
        term = row.term if row.term in ("mean", *LABELS) else "shares"
        if (row.question, row.term) in items and term == "shares":
            term = "mean ranks"
        if words and term not in terms.setdefault(words[0], []):
            terms[words[0]].append(term)
    intervals = "; ".join(f"for {_listed(named)}, {word}" for word, named in terms.items())
    has_texts = any(question.domain.estimand is Estimand.TEXTS for question in survey.questions)
    nearly = " (those of texts nearly so)" if has_texts else ""
    return (
        f"Answers to \u201c{survey.text(survey.spec['title'])}\u201d (version "
        f"{survey.version[:12]}, wave {wave}, n = {reports:,}) were randomized on the "
        "respondents' devices before they were sent, so that no true answer was collected (local "
        f"differential privacy; Kasiviswanathan et al. 2011). Mechanisms and ε of one report: "
        f"{each}. A respondent spends ε = {survey.charge / MICRO:.4g} in a wave, and at most "
        f"{survey.cap / MICRO:.4g} on the survey.{together}{memory} Skipped and hidden "
        f"questions are a value of their own that is randomized like any other. Shares are "
        f"unbiased{nearly} and not clipped; standard errors include the randomization. Intervals "
        f"at {100 * rows[0].conf_level:g} % are, {intervals}. Reports were collected and "
        f"estimates made with deniable {version('deniable')}."
    )


def _listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _weight(question: Question, value: str) -> str:
    """Return the name of the column of a value's debiased weights; empty if there is none."""
    name = variable(question.id)
    if question.domain.estimand is Estimand.MEAN:
        return f"debiased_{name}" if value != NO_ANSWER else ""
    columns, name = debiasing(question)[0], f"{name}_{variable(value)}"
    return next((f"debiased_{column}" for column in (name, f"{name}_yes") if column in columns), "")
