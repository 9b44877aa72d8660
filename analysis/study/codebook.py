"""The codebook of a survey for readers of its data: wording, codes, mechanisms and ε."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

from analysis.core.csv_json import REPORT
from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.table import (
    ChanceIfOther,
    ChanceIfTrue,
    MechanismName,
    PromiseOrValue,
    QuestionId,
    QuestionKind,
    ReportEpsilon,
    ValueLabel,
)
from analysis.estimate.columns.of_survey import debiasing, variable
from analysis.survey.codes import CODES, codes_of
from analysis.survey.logic import written
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Code:
    """One value of one question. Its fields are the columns of the codebook.

    `code` is None if reports are sets, bits, or symbols that stand for no value. `weight`,
    `missing`, `reason` and `divisor` are empty if there is none: `divisor` is the share of those
    who gave a number, if not everybody does. `score` is None if a value has none, and `p` and `q`
    are None if reports do not support values.

    `chances` are empty for numbers, and if reports are not integers from 0 on or have cohorts.
    `randomizer` gives the probability of every report under every answer. For questions that are
    drawn together, it is that of the draw.
    """

    variable: Annotated[str, "Column of the reports."]
    code: Annotated[int | None, "Report that stands for this value, if there is one."]
    cells: Annotated[str, "Form of the reports in their column."]
    missing: Annotated[str, "Meaning of an empty cell in that column."]
    question: QuestionId
    kind: QuestionKind
    text: Annotated[str, "Wording of the question."]
    asked: Annotated[str, "Condition under which the question is shown."]
    value: PromiseOrValue
    label: ValueLabel
    score: Annotated[
        float | None,
        "What the value counts for in a scale's mean; in scores.csv, what a count adds to the "
        "sum of supports or scores.",
    ]
    weight: Annotated[
        str,
        "Column of the weights whose mean is the share of this value, or the mean.",
    ]
    divisor: Annotated[str, "Column of the weights by whose mean the mean of `weight` is divided."]
    draw: Annotated[
        str,
        "Id of the table of questions that were drawn together, if the question is in one.",
    ]
    portion: Annotated[float, "Proportion of people who were asked the question."]
    mechanism: MechanismName
    epsilon: ReportEpsilon
    p: ChanceIfTrue
    q: ChanceIfOther
    reason: Annotated[str, "The author's reason for this ε."]
    earlier_labels: Annotated[str, "Labels of the value in earlier versions, joined by |."]
    chances: Annotated[
        list[float],
        "Probabilities of the reports 0, 1, 2, ... under this value, joined by |.",
    ]
    randomizer: Annotated[
        dict[str, Any],
        "Encoder and channel with their whole numbers, as docs/protocol.md has them.",
    ]


@dataclass(frozen=True)
class AuthorCode:
    """A column that only the codebook of a survey with codes has."""

    author_code: Annotated[str | int | None, "Code of the value in the survey file, if any."]


def codebook_table(
    survey: Survey, corrected: Sequence[Survey] = ()
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of the codebook and its columns, with the author's codes if there are any."""
    rows = [asdict(code) for code in codebook(survey, corrected)]
    columns = [field.name for field in fields(Code)]
    if CODES not in survey.spec:
        return rows, columns
    for row in rows:
        code = codes_of(survey.spec, row["question"]).get(row["value"])
        row |= asdict(AuthorCode(code))
    return rows, [*columns, *(field.name for field in fields(AuthorCode))]


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
    # Reports on questions that are drawn together are sets of values, often of one value.
    of_one = question.place and question.domain.alternatives and randomizer.channel.size == 1
    names_one = randomizer.reports_values or of_one
    codes = {share.term: code for code, share in enumerate(shares) if names_one}
    chances, scores = _chances(question), _scores(question)
    of_draws = {one.id: draw.randomizer for draw in survey.joint for one in draw.questions}
    law = of_draws.get(question.id, randomizer).to_json()
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
            cells=_cells(question, bool(codes)),
            missing="not asked" if randomizer.portion < 1 else "",
            question=question.id,
            kind=spec["kind"],
            text=survey.wording(question),
            asked=written(spec["shows_if"]) if "shows_if" in spec else "",
            value=value,
            label=label,
            score=scores.get(value),
            weight=(weight := _weight(question, value)),
            divisor=_divisor(question) if weight else "",
            draw=question.place.draw if question.place else "",
            portion=float(randomizer.portion),
            mechanism=question.mechanism.name,
            epsilon=randomizer.epsilon,
            p=support.get(value, (None, None))[0],
            q=support.get(value, (None, None))[1],
            reason=survey.text(reason) if (reason := survey.reason_of(question)) else "",
            earlier_labels=" | ".join(_earlier(question, value, label, corrected)),
            chances=chances.get(value, []),
            randomizer=law,
        )
        # No-answer comes last, as in tables.
        for value, label in sorted(labels.items(), key=lambda item: item[0] == NO_ANSWER)
    ]


def _chances(question: Question) -> dict[str, list[float]]:
    """Return probabilities of all reports under each value; empty if reports are not symbols."""
    if not question.randomizer.reports_values:
        return {}
    rows = question.randomizer.channel.chances().tolist()
    return dict(zip(question.domain.alternatives, rows, strict=False))


def _scores(question: Question) -> dict[str, float]:
    """Return what each value of a scale counts for in its mean; empty for all other questions."""
    amounts = question.domain.amounts
    if amounts is None or question.domain.estimand is Estimand.MEAN:
        return {}
    pairs = zip(question.domain.alternatives, amounts, strict=True)
    return {value: amount for value, amount in pairs if value != NO_ANSWER}


def _earlier(question: Question, value: str, label: str, corrected: Sequence[Survey]) -> list[str]:
    """Return the labels that a value had in other versions, each once, without the present one."""
    before = [
        other.labels(asked).get(value, label)
        for other in corrected
        for asked in other.questions
        if asked.id == question.id
    ]
    return [one for one in dict.fromkeys(before) if one != label]


def _cells(question: Question, has_codes: bool) -> str:
    """Return words for the form of a question's reports in their column."""
    if has_codes:
        return "code"
    kind = question.randomizer.channel.report_schema()["type"]
    written = {"array": "symbols joined by |", "string": "bits in base64url"}.get(kind, "symbol")
    return written if question.randomizer.encoder.cohorts is None else f"cohort:{written}"


def _divisor(question: Question) -> str:
    """Return the column of weights whose mean divides that of a number; empty if there is none."""
    is_part = question.domain.estimand is Estimand.MEAN and question.domain.no_answer
    return f"debiased_{debiasing(question)[0][1]}" if is_part else ""


def _weight(question: Question, value: str) -> str:
    """Return the name of the column of a value's debiased weights; empty if there is none."""
    name = variable(question.id)
    if question.domain.estimand is Estimand.MEAN:
        return f"debiased_{name}" if value != NO_ANSWER else ""
    columns, name = debiasing(question)[0], f"{name}_{variable(value)}"
    return next((f"debiased_{column}" for column in (name, f"{name}_yes") if column in columns), "")
