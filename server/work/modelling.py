"""Models of randomized answers, from a formula or from chosen questions."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from keyword import iskeyword
from typing import Any

from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import variable
from analysis.study.infinities import without_infinities
from analysis.study.regression import Regression, Term, regress
from server.store import Store
from server.stored_results import StoredWave
from server.work import Progress

TERM_COLUMNS = tuple(field.name for field in fields(Term))
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

#: A name in a formula: letters, digits, _ and ., or anything between backticks. Functions and their
#: options are no names: a parenthesis or a single = follows them.
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d][\w.]*)(?!\s*(?:\(|=(?!=))|[\w.])")


def names_in(formula: str) -> list[str]:
    """Return the columns that a formula names, without functions, options and quoted texts."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    return list(dict.fromkeys(quoted or name for quoted, name in _NAME.findall(plain)))


def columns_of_formula(
    stored: StoredWave, formula: str
) -> tuple[str, dict[str, Column], Sequence[str]]:
    """Return a formula as it is fitted, the columns that it names, and notes on them.

    Errors are those of `StoredWave.columns`.
    """
    names = names_in(formula)
    columns, notes = stored.columns(names)
    for name in names:
        formula = formula.replace(f"`{name}`", variable(name)).replace(name, variable(name))
    return formula, {variable(column.name): column for column in columns}, notes


def formula_of(outcome: str, predictors: Sequence[str], together: bool) -> str:
    """Return the formula of chosen columns: nothing in it comes from anybody else.

    With `together`, products of predictors are terms, too.
    """
    quoted = [_quoted(name) for name in (outcome, *predictors)]
    return f"{quoted[0]} ~ {(' * ' if together else ' + ').join(quoted[1:])}"


def _quoted(name: str) -> str:
    """Return the name of a column as formulas take it: some have to stand between backticks."""
    plain = variable(name)
    return plain if plain.isidentifier() and not iskeyword(plain) else f"`{plain}`"


def family_for(outcome: Column) -> str:
    """Return the usual family of a randomized outcome, which depends on its values."""
    if outcome.amounts is not None:
        return "linear"
    return "logistic" if len(outcome.answers) == 2 else "multinomial"


def told(model: Regression) -> dict[str, Any]:
    """Return a model as JSON: its terms, its fit, messages, and predictions."""
    return {
        "terms": [without_infinities(asdict(term)) for term in model.terms],
        **{name: getattr(model, name) for name in FIT},
        "messages": list(model.messages),
        "predicted": [without_infinities(asdict(row)) for row in model.predicted],
        "effects": [asdict(row) for row in model.effects],
    }


@dataclass(frozen=True)
class Modelling:
    """The model that a researcher asked for, of chosen columns.

    An empty `family` is the usual one for the outcome. `reports` is how many are shown: once there
    are more, it is another model. Choices from `errors` on are those of `regress`.
    """

    survey: str
    version: str
    wave: int
    reports: int
    level: float
    outcome: str
    predictors: Sequence[str]
    together: bool
    family: str
    errors: str
    interval: str = "profile"
    no_answer: str = "left-out"
    penalty: str = "none"
    effects: bool = False

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return the JSON of a model, its formula and family, and notes on its columns."""
        stored = StoredWave(store, self.survey, self.wave, self.version, batch=True)
        columns, notes = stored.columns((self.outcome, *self.predictors))
        by_name = {variable(column.name): column for column in columns}
        formula = formula_of(self.outcome, self.predictors, self.together)
        family = self.family or family_for(by_name[variable(self.outcome)])
        advance: Callable[[float], None] = progress
        model = regress(
            formula,
            by_name,
            {},
            family=family,
            se=self.errors,
            interval=self.interval,
            no_answer=self.no_answer,
            penalty=self.penalty,
            effects=self.effects,
            confidence_level=self.level,
            progress=advance,
        )
        return {"formula": formula, "family": family, "notes": list(notes), **told(model)}
