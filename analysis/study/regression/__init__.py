"""Regression with a randomized outcome, randomized predictors, or both."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from analysis.core.options import (
    ERRORS,
    FAMILIES,
    INTERVALS_OF_MODELS,
    NO_ANSWERS,
    PENALTIES,
)
from analysis.estimate.columns import Column, check_columns
from analysis.estimate.intervals import check_level
from analysis.study.regression.agreement import LAWS
from analysis.study.regression.debiased import debiased
from analysis.study.regression.effects import average_effects
from analysis.study.regression.likeliest import likeliest
from analysis.study.regression.penalty import PENALIZED
from analysis.study.regression.predicted import Predictor, predicted
from analysis.study.regression.result import Effect, Predicted, Regression, Term
from analysis.study.regression.table import Table, table

__all__ = [
    "Effect",
    "Predicted",
    "Regression",
    "Term",
    "regress",
]


class Known(Protocol):
    """Known columns by their names: a DataFrame, or a mapping."""

    def __iter__(self) -> Iterator[Any]: ...

    def __getitem__(self, name: Any, /) -> Any: ...


def regress(
    formula: str,
    columns: Mapping[str, Column] | Iterable[Column] | Column,
    known: Known | None = None,
    *,
    family: str = "logistic",
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    offset: str | None = None,
    se: str = "observed",
    interval: str = "profile",
    no_answer: str = "left-out",
    penalty: str = "none",
    random: str | None = None,
    confidence_level: float = 0.95,
    effects: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Regression:
    """Return a regression with a randomized outcome, randomized predictors, or both.

    It is fitted by maximum likelihood over the latent answers. Randomized predictors have a law of
    their own, which is also estimated and must be right: a multinomial logit of their combination
    on the model's known columns. A linear model of a randomized outcome is fitted by least squares
    of debiased reports, which needs no law.

    With a randomized predictor, the likelihood of a linear or Poisson model finds effects that do
    not exist if errors are not normal, or if counts do not follow Poisson's law. `messages` say if
    the reports speak against the assumption. Corrected scores (`se` is ``sandwich``) need neither
    that nor a law of the predictors, and have somewhat wider intervals. But the variation of
    predictors must be visible through the noise, which takes more respondents.

    Intervals and tests are those of the profile likelihood and of likelihood ratios. If an event is
    rare, or if predictors separate the outcomes, an estimate or a limit may be infinite, which
    `Term.flag` says. Wald intervals fail then: with a reference group whose true share is 0.005 (ε
    = 1, n = 2000), half of the samples have no interval, and two thirds of the others cover.
    Sandwich errors, corrected scores, weights, clusters and strata have only Wald intervals.

    Parameters
    ----------
    formula : str
        A formula in formulaic's syntax, such as ``"harassed ~ age + C(team)"``. It may hold any
        Python expression, so never run one from a stranger. Randomized columns with amounts are
        numbers in it. If no-answer is a value, each of their terms is 0 for it, and has another
        term with ``name[no-answer]`` in place of the name. Other randomized columns are categories.
    columns : Column, mapping or iterable of Column
        Randomized columns of n respondents, by the names that the formula gives them, or with their
        own names.
    known : DataFrame or mapping, optional
        Known columns by their names, (n,) numbers or strings: arrays, Series or lists. Row i
        belongs to respondent i, whatever the index of a Series says.
    family : str
        One of `FAMILIES`. No-answer to a randomized outcome is a category of its own.
    weights : (n,) array, optional
        Finite weights of at least 0. Errors are then those of the sandwich.
    clusters, strata : (n,) arrays, optional
        Labels of the clusters and the strata in which respondents were drawn. Errors are then those
        of the sandwich, with Student's law for intervals and tests. With strata, or with more than
        200 clusters, the sandwich is made of the clusters' sums within strata, and the degrees of
        freedom are clusters (or respondents) less strata. Otherwise it is CR2 with Satterthwaite's
        degrees of freedom. Estimates do not change.
    offset : str, optional
        The offset of a Poisson model, which is added to the logarithm of the mean: an expression of
        known columns such as ``log(hours)``. The law of randomized predictors depends on it, too.
        Predictions are for an offset of 0.
    se : str
        ``observed`` (information) or ``sandwich``. For a linear or Poisson model of a known outcome
        with randomized predictors, ``sandwich`` is also another estimator, by corrected scores.
    interval : str
        ``profile`` or ``wald``. `Regression.interval` says which one the result has.
    no_answer : str
        The treatment of no-answer in randomized columns. ``left-out`` gives a model of those who
        answered. The others are in its likelihood with a probability and coefficients of their own,
        which are not printed. A linear or Poisson model of a known outcome with optional predictors
        is fitted by corrected scores, since the law of the others' outcomes is unknown.
        ``category`` treats no-answer as a value like any other, so that respondents who skipped a
        predictor share the coefficients of all others.
    penalty : str
        ``none`` or ``log-f``. With ``log-f``, all coefficients except intercepts have log-F(1, 1)
        priors, which keep them finite. That includes the predictors' law, and respondents who
        skipped an answer; see `analysis.study.regression.penalty`. A linear model cannot have a
        penalty, and intervals must be profiles, since Wald intervals cover too seldom if a penalty
        is needed.
    random : str, optional
        For a logistic model of two answers with known predictors, the name of a known column of
        clusters, such as schools, whose log-odds differ by a normal random intercept. Its standard
        deviation is the last term, ``sigma(name)``. The intercept is assumed to be independent of
        all predictors, and members of a cluster to be independent given the intercept. Intervals
        must be profiles, and there are no predictions.
    confidence_level : float
        The level of each single interval, in (0, 1).
    effects : bool
        Whether to also compute average marginal effects, for a model with a likelihood.
    progress : function, optional
        A function that is called now and then with the fraction that is done, and with 1 at the
        end.

    Raises
    ------
    TypeError
        If `columns` or `known` are something else.
    ValueError
        If the formula, a column, an option or the weights are wrong, if columns of the design are
        linearly dependent, or if there are fewer respondents than parameters.
    ModuleNotFoundError
        If formulaic is not installed.

    References
    ----------
    van den Hout and Kooiman, Computational Statistics & Data Analysis 2006 (randomized predictors);
    van den Hout, van der Heijden and Gilchrist, Computational Statistics & Data Analysis 51, 2007
    (outcomes); Nakamura, Biometrika 1990 (corrected scores); Venzon and Moolgavkar, Applied
    Statistics 1988 (intervals); Greenland and Mansournia, Statistics in Medicine 2015 (penalty).
    """
    for name, got, expected in (
        ("family", family, FAMILIES),
        ("se", se, ERRORS),
        ("interval", interval, INTERVALS_OF_MODELS),
        ("no_answer", no_answer, NO_ANSWERS),
        ("penalty", penalty, PENALTIES),
    ):
        if got not in expected:
            raise ValueError(f'{name} must be {" or ".join(expected)}, got "{got}"')
    check_level(confidence_level)
    if not isinstance(columns, Iterable) or isinstance(columns, str):
        check_columns(columns)  # a single column is allowed
        columns = [columns]
    listed = columns if isinstance(columns, Mapping) else [*columns]
    check_columns(*(listed.values() if isinstance(listed, Mapping) else listed))
    named = listed if isinstance(listed, Mapping) else {each.name: each for each in listed}
    if not (known is None or isinstance(known, Mapping) or hasattr(known, "columns")):
        raise TypeError(
            "known must be a DataFrame, or a mapping of names to columns, got "
            f"{type(known).__name__}"
        )
    # A column's name in formulas becomes its name here.
    randomized = {name: replace(column, name=name) for name, column in named.items()}
    given = {str(name): np.asarray(known[name]) for name in known} if known is not None else {}
    model = table(formula, randomized, given, family, weights, offset, clusters, strata, random)
    if isinstance(model.outcome, Column):
        lawless = family == "linear"
    elif family in LAWS and model.predictors:
        # Outcomes of respondents who skipped a predictor follow an unknown mixture.
        some_left_out = no_answer == "left-out" and not model.answering.all()
        lawless = se == "sandwich" or some_left_out
    else:
        lawless = False
    drawn = weights is not None or clusters is not None or strata is not None
    robust = se == "sandwich" or drawn
    if random is not None:
        _check_random(model, family, penalty, robust or interval != "profile")
    if penalty != "none":
        _check_penalty(model, family, lawless, robust or interval != "profile")
    if lawless:
        fitted = debiased(model, family, no_answer, confidence_level)
        if progress:
            progress(1.0)
        few = model.rows.few_clusters(fitted.freedom)
        fitted = replace(fitted, messages=(*fitted.messages, *few))
        return replace(
            fitted,
            predicted=predicted(model, fitted, confidence_level),
            confidence_level=confidence_level,
            predictor=Predictor(model),
        )
    if no_answer == "left-out":
        model = model.apart()
    found = likeliest(
        model, family, robust, interval, no_answer, penalty, confidence_level, progress
    )
    rows = () if random else predicted(model, found.model, confidence_level, found.of)
    averages = average_effects(model, found, confidence_level) if effects else ()
    messages = (*found.model.messages, *model.rows.few_clusters(found.model.freedom))
    return replace(
        found.model,
        predicted=rows,
        effects=averages,
        messages=messages,
        confidence_level=confidence_level,
        predictor=None if random else Predictor(model, found.of),
    )


def _check_random(model: Table, family: str, penalty: str, walds: bool) -> None:
    """Raise `ValueError` unless a model can have a random intercept."""
    if family != "logistic":
        raise ValueError(
            f"a random intercept needs a logistic model of two answers, got a {family} one: use "
            "clusters, with robust errors, instead"
        )
    if isinstance(model.outcome, Column) and len(model.outcome.values) > 2:
        raise ValueError(
            f'a random intercept needs an outcome with two answers, got "{model.name}", which '
            "respondents can skip"
        )
    if model.predictors:
        raise ValueError(
            "a model with a random intercept takes only known predictors, got the randomized "
            f"{', '.join(column.name for column in model.predictors)}: use clusters, with robust "
            "errors, instead"
        )
    if penalty != "none":
        raise ValueError("a model with a random intercept takes no penalty")
    if walds:
        raise ValueError(
            "a model with a random intercept has only profile intervals: leave out Wald's "
            "intervals, sandwich errors, weights, clusters and strata"
        )


def _check_penalty(model: Table, family: str, lawless: bool, walds: bool) -> None:
    """Raise `ValueError` unless a model can have a penalty."""
    if family not in PENALIZED:
        raise ValueError(
            "a penalty needs odds ratios or ratios of counts, from a logistic, multinomial or "
            f"poisson model, got a {family} one"
        )
    if lawless:
        raise ValueError("corrected scores take no penalty: they have no likelihood")
    if walds:
        raise ValueError(
            "a penalized model has only profile intervals: leave out Wald's intervals, sandwich "
            "errors, weights, clusters and strata"
        )
    if "Intercept" not in model.terms:
        raise ValueError(
            "a penalized model must have an intercept, which has no penalty, got a formula without"
        )
