"""The columns of the table of reports: their names, their meaning, and their cells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.csv_json import REPORT
from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.reports import Reports
from analysis.estimate.columns.of_survey import columns_of, debiasing, variable
from analysis.study.codebook import codebook
from analysis.survey.codes import Code, codes_of
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: Instructions for the columns of weights, for readers who find them in another program.
HOW_TO_USE = (
    "The columns debiased_... are weights: the mean of one is the unbiased share, and its standard "
    "deviation over the square root of n is the standard error with randomization. If people "
    "could skip a number, its mean is the mean of debiased_Q over that of debiased_Q_answered. The "
    "columns noisy_... are randomized reports: never tabulate them as if they were answers."
)


@dataclass(frozen=True)
class ReportColumn:
    """One column of the table of reports.

    Attributes
    ----------
    name : str
        ``noisy_QUESTION``, or ``debiased_`` and a value or option.
    label : str
        Its description, with the warning first, since programs cut off long labels.
    question : Question
        The column's question.
    place : int, optional
        The index of the weight among the question's; None for the report itself.
    weigh : callable, optional
        A function that returns the (n, weights) weights of the question's reports; None for the
        report itself.
    values : mapping
        The texts of the report's symbols, if each symbol stands for a value.
    codes : mapping
        The author's codes of these symbols, as far as there are any.
    """

    name: str
    label: str
    question: Question
    place: int | None = None
    weigh: Callable[[Reports], NDArray[np.float64]] | None = None
    values: Mapping[int, str] = field(default_factory=dict)
    codes: Mapping[int, Code] = field(default_factory=dict)

    @property
    def is_noisy(self) -> bool:
        """Return whether it has reports. Otherwise it has debiased weights."""
        return self.place is None

    @property
    def kind(self) -> str:
        """The type of its cells, as JSON Schema names it: integer, number or string."""
        if not self.is_noisy:
            return "number"
        randomizer = self.question.randomizer
        alone = randomizer.encoder.cohorts is None
        kind = randomizer.channel.report_schema()["type"]
        return "integer" if alone and kind == "integer" else "string"


def report_columns(survey: Survey) -> list[ReportColumn]:
    """Return the columns of a survey's reports: first all reports, and then their weights."""
    rows = codebook(survey)
    noisy = [
        ReportColumn(
            f"{REPORT}{variable(question.id)}",
            f"NOISY report, do not tabulate: {survey.wording(question)}",
            question,
            values={
                row.code: f"reports: {row.label}"
                for row in rows
                if row.question == question.id and row.code is not None
            },
            codes={
                row.code: codes[row.value]
                for codes in [codes_of(survey.spec, question.id)]
                for row in rows
                if row.question == question.id and row.code is not None and row.value in codes
            },
        )
        for question in survey.questions
    ]
    worth = []
    for question in survey.questions:
        names, weigh = debiasing(question)
        labels = _labels(survey, question) if names else []
        for place, (name, label) in enumerate(zip(names, labels, strict=True)):
            worth.append(ReportColumn(f"debiased_{name}", label, question, place, weigh))
    return [*noisy, *worth]


def _labels(survey: Survey, question: Question) -> list[str]:
    """Return the label of each column of a question's weights."""
    wording = survey.wording(question)
    if question.domain.estimand is Estimand.MEAN:
        if not question.domain.no_answer:
            return [f"WEIGHT: mean = mean of the numbers: {wording}"]
        return [
            f"WEIGHT: mean = mean of the numbers, with 0 for no answer: {wording}",
            f"WEIGHT: mean = share of those who gave a number: {wording}",
        ]
    labels = {NO_ANSWER: "No answer", **survey.labels(question)}
    told = []
    for column in columns_of(question, []):
        option = column.name.removeprefix(question.id).lstrip(".")
        for value in column.values:
            words = [labels.get(part, part) for part in (option, value) if part]
            told.append(f"WEIGHT: mean = share of {', '.join(words)}: {wording}")
    return told


def report_cells(
    columns: Sequence[ReportColumn], payloads: Sequence[Mapping[str, Any]]
) -> list[Sequence[Any] | NDArray[Any]]:
    """Return the cells of these columns for some respondents, by column.

    `payloads` have each respondent's report on each question, as it was sent.
    """
    cells: list[Sequence[Any] | NDArray[Any]] = []
    weights: dict[str, NDArray[np.float64]] = {}
    for column in columns:
        question = column.question
        sent = [payload[question.id] for payload in payloads]
        if column.weigh is None:
            cells.append(sent)
            continue
        if question.id not in weights:
            weights[question.id] = column.weigh(question.randomizer.read_many(sent))
        cells.append(weights[question.id][:, column.place])
    return cells
