"""Models of what respondents answered."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from analysis.core.options import (
    ERRORS,
    FAMILIES,
    INTERVALS_OF_MODELS,
    NO_ANSWERS,
    PENALTIES,
)
from analysis.study.infinities import without_infinities
from analysis.study.sources import Modelled
from analysis.study.verbs import (
    Answer,
    Misused,
    Progress,
    Sources,
    Table,
    Verb,
    argument,
    choice,
    flag,
    option,
    quiet,
)

if TYPE_CHECKING:
    from analysis.estimate.columns import Column
    from analysis.study.regression import Regression

#: The facts about a fit as a whole.
FIT = (
    "n",
    "log_likelihood",
    "parameters",
    "aic",
    "converged",
    "boundary",
    "se_type",
    "clusters",
    "interval",
    "penalty",
)


@dataclass(frozen=True)
class Model(Verb):
    """Print a model of what respondents reported, such as "harassed ~ team".

    In formulas, write question.option for one of several options. A name that a question has is
    that question, so "a-b" is not "a" without "b" if there is a question a-b. Of a survey, both
    sides are randomized, since the collector knows nothing else about a respondent. A formula is a
    program: run none that you do not trust.
    """

    formula: str = argument("FORMULA")
    family: str = choice(FAMILIES, "Distribution of the outcome.")
    errors: str = choice(
        ERRORS,
        "Standard errors: from the observed information, or robust. If randomized predictors "
        "explain a number or a count, robust errors use corrected scores.",
    )
    effects: bool = flag("Print average marginal effects of each predictor instead.")
    offset: str | None = option(
        None,
        "For a Poisson model: a known column, or an expression of one such as log(hours), that is "
        "added to the logarithm of the mean.",
        metavar="COLUMN",
    )
    no_answer: str = choice(
        NO_ANSWERS, "Model those who answered, or treat no-answer as a value like any other."
    )
    penalty: str = choice(
        PENALTIES,
        "Keep estimates finite: log-F(1, 1) priors on all coefficients except the intercept.",
    )
    interval: str = choice(
        INTERVALS_OF_MODELS,
        "Kind of intervals and tests; with robust errors or weights only Wald's.",
    )
    predicted: bool = flag("Print the prediction for each answer instead.")
    random: str | None = option(
        None,
        "For a logistic model of a table from elsewhere: known clusters, such as schools, whose "
        "log-odds differ by a normal random intercept.",
        metavar="COLUMN",
    )
    is_long = True

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.predicted and self.effects:
            raise Misused("expected --predicted or --effects, got both")

    @property
    def needs(self) -> Sequence[str]:
        return ("reports",) if self.random is None else ("reports", "design")

    def fit(self, modelled: Modelled, level: float, progress: Progress) -> "Regression":
        """Return the model of some columns."""
        from analysis.study.regression import regress
        from analysis.study.sources.names import quoted

        return regress(
            modelled.formula,
            modelled.columns,
            modelled.known,
            family=self.family,
            offset=self.offset and quoted(self.offset, [*modelled.columns, *modelled.known]),
            se=self.errors,
            interval=self.interval,
            no_answer=self.no_answer,
            penalty=self.penalty,
            random=self.random,
            confidence_level=level,
            effects=self.effects,
            progress=progress,
            **modelled.drawn,
        )

    def answer(self, sources: Sources, level: float, progress: Progress = quiet) -> Answer:
        from analysis.study.regression import Effect, Predicted, Term

        (source,) = sources
        more = [self.offset] if self.offset else []
        more += [f"`{self.random}`"] if self.random else []
        robust = self.family == "linear" and self.errors == "sandwich"
        modelled = source.modelled(self.formula, more, robust)
        model = self.fit(modelled, level, progress)
        whole, tables = model_as_json(model), dict[str, Table]()
        for name, kind in (("terms", Term), ("predicted", Predicted), ("effects", Effect)):
            whole[name] = [row | source.simulated_cells for row in whole[name]]
            columns = [field.name for field in fields(kind)]
            tables[name] = Table(whole[name], [*columns, *source.simulated_cells])
        chosen = "predicted" if self.predicted else "effects" if self.effects else "terms"
        printed = [tables[chosen]]
        if chosen == "terms":
            printed.append(Table([{name: whole[name] for name in FIT}], FIT))
        remarks = [*model.messages]
        if not printed[0].rows:
            what = "predictions" if self.predicted else "average marginal effects"
            remarks.insert(0, f"this model has no {what}: {_WHY_NONE[what]}")
        return Answer(printed, modelled.notes, remarks, whole)


#: Why a model has no such rows.
_WHY_NONE = {
    "predictions": "some of its columns are known, and none of their values is a usual one",
    "average marginal effects": "it has no likelihood or estimate",
}


@dataclass(frozen=True)
class ChosenModel:
    """The model of chosen columns of a survey: nothing in its formula comes from anybody else.

    An empty `family` is the usual one for the outcome. With `together`, products of predictors are
    terms, too. Choices from `errors` on are those of `Model`.
    """

    outcome: str
    predictors: Sequence[str]
    together: bool
    family: str
    errors: str
    interval: str = INTERVALS_OF_MODELS[0]
    no_answer: str = NO_ANSWERS[0]
    penalty: str = PENALTIES[0]
    effects: bool = False
    stored_as: ClassVar[str] = "model"

    @property
    def formula(self) -> str:
        """The formula of the chosen columns."""
        quoted = [_quoted(name) for name in (self.outcome, *self.predictors)]
        return f"{quoted[0]} ~ {(' * ' if self.together else ' + ').join(quoted[1:])}"

    def result(self, source: Any, level: float, progress: Progress) -> dict[str, Any]:
        """Return the JSON of a model, its formula and family, and notes on its columns."""
        from analysis.estimate.columns.of_survey import variable

        columns, notes = source.columns((self.outcome, *self.predictors))
        by_name = {variable(column.name): column for column in columns}
        family = self.family or family_for(by_name[variable(self.outcome)])
        chosen = Model(
            self.formula,
            family,
            self.errors,
            self.effects,
            no_answer=self.no_answer,
            penalty=self.penalty,
            interval=self.interval,
        )
        model = chosen.fit(Modelled(self.formula, by_name), level, progress)
        return {
            "formula": self.formula,
            "family": family,
            "notes": list(notes),
            **model_as_json(model),
        }


def _quoted(name: str) -> str:
    """Return the name of a column as formulas take it: some have to stand between backticks."""
    from keyword import iskeyword

    from analysis.estimate.columns.of_survey import variable

    plain = variable(name)
    return plain if plain.isidentifier() and not iskeyword(plain) else f"`{plain}`"


def family_for(outcome: "Column") -> str:
    """Return the usual family of a randomized outcome, which depends on its values."""
    if outcome.amounts is not None:
        return "linear"
    return "logistic" if len(outcome.answers) == 2 else "multinomial"


def model_as_json(model: "Regression") -> dict[str, Any]:
    """Return a model as JSON: its terms, its fit, messages, and predictions."""
    return {
        "terms": [without_infinities(asdict(term)) for term in model.terms],
        **{name: getattr(model, name) for name in FIT},
        "messages": list(model.messages),
        "predicted": [without_infinities(asdict(row)) for row in model.predicted],
        "effects": [asdict(row) for row in model.effects],
    }
