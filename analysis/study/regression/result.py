"""The result of a regression: terms with their numbers, and messages on what is not known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import inf, isinf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from tabulate import tabulate

from analysis.estimate.columns.of_survey import variable
from analysis.study.frames import columns_of, frame, to_frame
from analysis.study.shown import draw_terms, html_pictures, html_table

Array = NDArray[np.float64]

#: Less information on a parameter, in units of `analysis.study.regression.units`, counts as none. A
#: parameter that grows forever has about 1e-9 left at the end of a climb.
FLAT = 1e-5
#: A parameter with a larger standard error, in log-odds of a usual respondent, is not known either.
_WIDEST = 10.0
#: A term is known if less than this fraction of it lies in directions without information.
_PART = 1e-3


@dataclass(frozen=True)
class Term:
    """A coefficient, with broom's columns. A number is None if the data do not give it.

    Attributes
    ----------
    estimate : float, optional
        Infinite if the likelihood grows forever to one side.
    std_error : float, optional
        The standard error by `Regression.se_type`; None for an infinite estimate.
    statistic, p_value : float, optional
        With a profile, the signed root of the likelihood-ratio statistic against 0, and its
        two-sided p-value. Otherwise those of Wald's test.
    conf_low, conf_high : float, optional
        Infinite if the data set no limit.
    conf_method : str, optional
        ``profile`` or ``wald``.
    flag : str
        Words of `analysis.study.infinities.infinities`, joined by ``;``.
    """

    term: str
    estimate: float | None = None
    std_error: float | None = None
    statistic: float | None = None
    p_value: float | None = None
    conf_low: float | None = None
    conf_high: float | None = None
    conf_method: str | None = None
    flag: str = ""


@dataclass(frozen=True)
class Predicted:
    """A share of an answer to the outcome, or its mean, among people with an answer to a predictor.

    All other predictors have their reference, the first value. `value` is the outcome's answer,
    whose share is among those who answer, or ``mean`` for a linear or Poisson model. Numbers are
    None if the model has no estimate of a term. `conf_method` is ``profile`` (not for shares of
    more than two answers) or ``wald``. `flag` is as in `Term`.
    """

    predictor: str
    answer: str
    value: str
    estimate: float | None
    std_error: float | None
    conf_low: float | None
    conf_high: float | None
    conf_method: str | None
    flag: str


@dataclass(frozen=True)
class Effect:
    """An average marginal effect: the average change of an outcome with a predictor.

    `change` is the comparison, such as ``"b - a"``, or ``"slope"`` for the mean slope of a known
    number. `value` is an answer to the outcome, whose share among those who answer changes, or
    ``mean``. The standard error is by the delta method, and the interval is Wald's. Both are None
    if a term of the model has no finite estimate or no standard error.
    """

    predictor: str
    change: str
    value: str
    estimate: float
    std_error: float | None
    conf_low: float | None
    conf_high: float | None


class _Predictor(Protocol):
    """Predictions from the table to which a model was fitted."""

    def rows(
        self, model: "Regression", given: Mapping[str, Sequence[Any]], confidence_level: float
    ) -> list[dict[str, Any]]: ...


@dataclass(frozen=True)
class Regression:
    """A fitted model.

    Attributes
    ----------
    terms : tuple of Term
        The coefficients. An estimate is None if it was not reached, or if reports carry no
        information about it. An estimate that grows forever is infinite with profiles, and None
        with Wald intervals. Terms of the event of two answers, or of a single linear predictor,
        have plain names. Those of another category are ``value:term``, against the first category.
    n : int
        The number of respondents whose weight is above 0.
    log_likelihood : float, optional
        The log-likelihood of the outcome and of the reports of randomized predictors at the
        estimates. With weights it is the weighted sum. It does not include a penalty. It is None if
        the model was not fitted by likelihood.
    parameters : int
        The number of parameters, including those of `nuisance` and those at infinity.
    aic : float, optional
        Akaike's information criterion, twice `parameters` less twice `log_likelihood`. It is None
        with weights, since a weighted sum of logarithms is not a likelihood, and with a penalty,
        since the parameters are then not the likeliest. It compares models of the same outcome and
        the same randomized predictors.
    converged : bool
        Whether all estimates are numbers at a maximum of the likelihood, or infinite with a limit
        on the other side. Estimates about no-answer are exempt, since they do not exist if almost
        everybody answered. Estimates are still wrong if `messages` say that the reports speak
        against the model.
    boundary : bool
        Whether some parameter, perhaps one that is not printed, lies at the border of the possible
        range.
    se_type : str
        ``observed information``, ``sandwich`` or ``cluster sandwich``.
    clusters : int, optional
        The number of clusters in which respondents were drawn, or that have a random intercept;
        None if respondents were drawn one by one.
    interval : str
        The method of the intervals and tests of `terms`, ``profile`` or ``wald``.
    penalty : str
        ``none``, or ``log-f`` if estimates, intervals and tests are those of a penalized
        likelihood.
    family, outcome : str
        The family that was asked for, and the outcome.
    covariance : (terms, terms) array
        The covariance of the estimates; NaN for those without a standard error.
    messages : tuple of str
        Sentences on what is wrong, and on what a reader must know.
    nuisance : tuple of Term
        The other parameters of the model: the logarithm of the errors' standard deviation, and
        log-odds of the combinations of latent values against the first.
    predicted : tuple of Predicted
        The predictions for each answer to each randomized predictor. They are empty if the model
        also has known predictors, since none of their values is a usual one.
    effects : tuple of Effect
        Average marginal effects, if they were asked for.
    freedom : float
        The degrees of freedom of Student's law for predictions and effects, the least of all terms;
        infinite if respondents were drawn one by one.
    confidence_level : float
        The level of each single interval.
    """

    terms: tuple[Term, ...]
    n: int
    log_likelihood: float | None
    parameters: int
    aic: float | None
    converged: bool
    boundary: bool
    se_type: str
    clusters: int | None
    interval: str
    penalty: str
    family: str
    outcome: str
    covariance: Array
    messages: tuple[str, ...]
    nuisance: tuple[Term, ...] = ()
    predicted: tuple[Predicted, ...] = ()
    effects: tuple[Effect, ...] = ()
    freedom: float = inf
    confidence_level: float = 0.95
    predictor: _Predictor | None = field(default=None, repr=False, compare=False)

    @property
    def params(self) -> Any:
        """A Series of the terms' estimates; NaN if a term has none."""
        return self._indexed()["estimate"].astype(float)

    @property
    def pvalues(self) -> Any:
        """A Series of the terms' p-values; NaN if a term has none."""
        return self._indexed()["p_value"].astype(float)

    def conf_int(self) -> Any:
        """Return a DataFrame of the terms' limits, with the columns ``low`` and ``high``.

        Their level is that of the model. A limit that the data do not set is infinite, and a limit
        that could not be computed is NaN.
        """
        limits = self._indexed()[["conf_low", "conf_high"]].astype(float)
        return limits.rename(columns={"conf_low": "low", "conf_high": "high"})

    @property
    def bse(self) -> Any:
        """A Series of the terms' standard errors; NaN if a term has none."""
        return self._indexed()["std_error"].astype(float)

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each term, and the columns of `Term`."""
        return to_frame(self.terms)

    def predict(self, at: Any = None) -> Any:
        """Return the predicted shares of the outcome's answers, or its mean, for given people.

        Parameters
        ----------
        at : mapping, DataFrame, Series or list of mappings, optional
            A value of each predictor, or a row of values, by the names in the formula. For a
            randomized predictor it is an answer, or the answer's amount. Other columns are ignored.
            The argument is not needed if the model has only an intercept.

        Returns
        -------
        DataFrame
            For each row and each answer to the outcome: the predictors, ``value`` (the answer, or
            ``mean``), ``estimate``, ``std_error``, ``conf_low``, ``conf_high``, ``conf_method`` and
            ``flag``, as in `Predicted`. Shares are among those who answer. Each single interval has
            the level of the model. For a Poisson model with an offset, the mean is for an offset of
            0.

        Raises
        ------
        ValueError
            If a predictor is missing, if its value is impossible, or if the model has a random
            intercept or was read from a file.
        TypeError
            If `at` is something else.
        """
        if self.predictor is None:
            raise ValueError(
                "expected a model that can predict, got one with a random intercept, or one that "
                "was read from a file: fit it again"
            )
        given = {} if at is None else columns_of(at)
        given = {variable(name): values for name, values in given.items()} | given
        rows = self.predictor.rows(self, given, self.confidence_level)
        if not rows:
            raise ValueError("expected at least one row of values, got none")
        return frame(rows, list(rows[0]))

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a file, without the answers to which the model was fitted."""
        return self.__dict__ | {"predictor": None}

    def _indexed(self) -> Any:
        return self.to_frame().set_index("term")

    def summary(self) -> str:
        """Return a description of the model, the table of terms, and the messages, as text."""
        heads = ("term", "estimate", "std error", "statistic", "p", "low", "high", "flag")
        rows = [
            (
                *(term.term, term.estimate, term.std_error, term.statistic, term.p_value),
                *(term.conf_low, term.conf_high, term.flag),
            )
            for term in self.terms
        ]
        terms = tabulate(rows, heads, floatfmt=".4g", missingval="")
        return "\n".join([self._fitted(), terms, *self.messages])

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Return the summary for a notebook."""
        messages = "".join(f"<p>{escape(message)}</p>" for message in self.messages)
        title = f"coefficients of a {self.family} model of {self.outcome}"
        drawn = html_pictures(draw_terms(title, self.terms, self.confidence_level))
        return f"<p>{escape(self._fitted())}</p>{html_table(self.terms)}{messages}{drawn}"

    def _fitted(self) -> str:
        """Return a line on the model as a whole."""
        facts = [f"{self.family} model of {self.outcome}, n = {self.n}"]
        if self.log_likelihood is not None:
            facts.append(f"log-likelihood {self.log_likelihood:.2f}")
        if self.aic is not None:
            facts.append(f"AIC {self.aic:.2f}")
        facts.append(f"errors by {self.se_type}, intervals by {self.interval}")
        return ", ".join(facts) + ("" if self.converged else "; it did not converge")


def covariance(
    information: Array, meat: Array | None, back: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the (p, p) covariance of parameters in their own units, and which are known.

    The covariance is NaN if a parameter is not known. `information` is in units of
    `analysis.study.regression.units`, which `back` converts to the parameters' own units. `meat` is
    the sum of products of scores, for the sandwich.

    References
    ----------
    docs/methods.md, (28). Huber, 5th Berkeley Symposium 1967; White, Econometrica 1982 (the
    sandwich).
    """
    spread, flat = middle(information, meat)
    lost, size = np.linalg.norm(back @ flat, axis=1), np.linalg.norm(back, axis=1)
    spread = back @ spread @ back.T
    known = (lost <= _PART * size) & (np.diag(spread) <= (_WIDEST * size) ** 2)
    spread[~known] = np.nan
    spread[:, ~known] = np.nan
    return spread, known


def middle(information: Array, meat: Array | None) -> tuple[Array, Array]:
    """Return the covariance of parameters, and the directions without information."""
    inner, flat = inverse(information)
    return inner if meat is None else inner @ meat @ inner, flat


def inverse(information: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of an information matrix, and a basis of its null space."""
    values, ways = np.linalg.eigh((information + information.T) / 2)
    flat = values < FLAT
    return (ways[:, ~flat] / values[~flat]) @ ways[:, ~flat].T, ways[:, flat]


def quantile(confidence_level: float, freedom: float = inf) -> float:
    """Return the number of standard errors that a two-sided interval reaches to either side."""
    below = (1 + confidence_level) / 2
    return float(ndtri(below) if isinf(freedom) else stdtrit(freedom, below))


def wald_terms(
    names: Sequence[str],
    estimates: Array,
    spread: Array,
    sound: NDArray[np.bool_],
    confidence_level: float,
    freedom: float | Array = inf,
) -> tuple[Term, ...]:
    """Return a term for each estimate that is `sound`, with numbers by Student's law.

    `spread` is the (p, p) covariance of the estimates, NaN if it is not known. `freedom` may differ
    between estimates. If it is infinite, the law is normal.
    """
    freedoms = np.broadcast_to(freedom, len(names)).tolist()
    columns = estimates.tolist(), np.diag(spread).tolist(), sound.tolist(), freedoms
    terms = []
    for name, estimate, variance, is_sound, own in zip(names, *columns, strict=True):
        if not is_sound:
            terms.append(Term(name))
        elif not variance > 0:
            terms.append(Term(name, estimate))
        else:
            error = variance**0.5
            statistic = estimate / error
            below = ndtr(-abs(statistic)) if isinf(own) else stdtr(own, -abs(statistic))
            p_value, reach = float(2 * below), quantile(confidence_level, own)
            low, high = estimate - reach * error, estimate + reach * error
            terms.append(Term(name, estimate, error, statistic, p_value, low, high, "wald"))
    return tuple(terms)
