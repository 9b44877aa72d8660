"""The table of a model: groups of equal respondents, with all that their likelihood needs."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.core.domain import NO_ANSWER
from analysis.core.extras import install_with
from analysis.estimate.columns import Column
from analysis.estimate.columns.together import (
    Seen,
    chance_of,
    channel_of,
    debiased_product,
    drawn_together,
)
from analysis.study.regression.random_intercept import Clustering, clustering
from analysis.study.regression.response import check_known
from analysis.study.regression.rows import Rows, check_clusters, check_weights, group
from analysis.study.regression.units import dependent, independent

if TYPE_CHECKING:
    from analysis.study.regression.formula import Design

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """The groups of equal respondents of a model.

    Attributes
    ----------
    rows : Rows
        The weights of the groups.
    name : str
        The name of the outcome.
    outcome : Column or (groups,) array
        The outcome, randomized or known.
    predictors : tuple of Column
        The randomized predictors.
    cells : (cells, predictors) array
        The combinations of their values.
    terms, design : (p,) tuple of str, (groups, cells, p) array
        The design under each combination.
    shares_terms, shares : (q,) tuple of str, (groups, q) array
        The design of the shares of the combinations, with linearly independent columns.
    offset : (groups,) array
        The number that is added to the linear predictor.
    known : mapping
        Known columns of the design, with a row for each respondent.
    made : function
        A function that makes the design of respondents (not of groups) for some changed known
        columns, or of other people if all are given.
    clustering : Clustering, optional
        Clusters with a random intercept.
    """

    rows: Rows
    name: str
    outcome: Column | NDArray[Any]
    predictors: tuple[Column, ...]
    cells: NDArray[np.int64]
    terms: tuple[str, ...]
    design: Array
    shares_terms: tuple[str, ...]
    shares: Array
    offset: Array
    known: Mapping[str, NDArray[Any]]
    made: Callable[[Mapping[str, NDArray[Any]]], Array]
    clustering: Clustering | None = None

    @cached_property
    def cell_chances(self) -> Array:
        """(groups, cells) probabilities of predictors' reports, up to a factor for each group."""
        chances = np.ones((len(self.design), 1))
        for indices in drawn_together([column.place for column in self.predictors]):
            chances = chances * self._chances(indices)
        return chances

    def outcome_chances(self, outcome: Column) -> Array:
        """Return (k, groups, cells or 1) probabilities of reports on an outcome of k values.

        They are conditional on the reports on predictors. They depend on the cell if some of these
        come from one draw with the outcome.
        """
        last = len(self.predictors)
        draws = drawn_together([column.place for column in (*self.predictors, outcome)])
        beside = next(indices for indices in draws if last in indices)[:-1]
        if not beside:
            return outcome.chances.T[:, outcome.codes, None]
        places = [self.predictors[index].place for index in beside]
        channel = channel_of([*places, outcome.place])
        holds = self._holds(beside)
        both = [
            chance_of(channel, [*holds, there[:, None]])
            for there in outcome.holds.T[:, outcome.codes]
        ]
        return np.array(both) / self._chances(beside)

    def _chances(self, indices: Sequence[int]) -> Array:
        """Return (groups, cells) probabilities of the reports on predictors of one draw."""
        if len(indices) == 1:
            column, values = self.predictors[indices[0]], self.cells[:, indices[0]]
            return column.chances[:, values][column.codes]
        channel = channel_of([self.predictors[index].place for index in indices])
        return chance_of(channel, self._holds(indices))

    def _holds(self, indices: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Return (groups, cells) whether reports hold cells' values, for predictors of one draw."""
        return [
            self.predictors[index].holds[:, self.cells[:, index]][self.predictors[index].codes]
            for index in indices
        ]

    def cell_scores(self, outcome: Seen | None = None) -> Array:
        """Return (groups, cells) debiased indicators of combinations.

        Their expectation is 1 for the true cell, and 0 for others. With a function of a randomized
        `outcome`, it is multiplied by the function's value.
        """
        functions = [
            column.seen(np.eye(len(column.values))[:, values])
            for column, values in zip(self.predictors, self.cells.T, strict=True)
        ]
        product = debiased_product([*functions, *([] if outcome is None else [outcome])])
        return np.broadcast_to(product, (len(self.design), len(self.cells)))

    @cached_property
    def answering(self) -> NDArray[np.bool_]:
        """(cells,) whether all predictors have an answer in a combination."""
        answers = np.ones(len(self.cells), dtype=np.bool_)
        for column, values in zip(self.predictors, self.cells.T, strict=True):
            answers &= np.array([value != NO_ANSWER for value in column.values])[values]
        return answers

    @property
    def of_no_answer(self) -> NDArray[np.bool_]:
        """(p,) whether a term is 0 for all who answered, so that it is only about the others."""
        return np.asarray(~self.design[:, self.answering].any(axis=(0, 1)))

    def of_answering(self) -> tuple["Table", NDArray[np.bool_]] | None:
        """Return the table of those who answered, and which terms are left; None if all answered.

        It leaves out combinations in which a predictor has no answer, and the terms of no answer.
        """
        answers, kept = self.answering, ~self.of_no_answer
        if answers.all() or not answers.any():
            return None
        return replace(
            self,
            cells=self.cells[answers],
            terms=tuple(compress(self.terms, kept)),
            design=self.design[:, answers][:, :, kept],
        ), kept

    def apart(self) -> "Table":
        """Return the table in which respondents who skipped a predictor have their own terms.

        If they shared a slope with those who answered, it would be a mixture of two slopes: one
        conditional on the predictor, and one not. Then a known column that is correlated with the
        predictor would seem to matter, even if skipping is random (Jones, Journal of the American
        Statistical Association 1996).
        """
        answers, kept = self.answering, ~self.of_no_answer
        if answers.all() or not answers.any():
            return self
        chosen = independent(self.design[:, ~answers], self.rows.times)

        def parted(design: Array) -> Array:
            own = np.where(answers[:, None], design[:, :, kept], 0.0)
            return np.concatenate(
                [own, np.where(answers[:, None], 0.0, design[:, :, chosen])], axis=2
            )

        def name(term: str) -> str:
            return term if NO_ANSWER in term else f"{term}[{NO_ANSWER}]"

        return replace(
            self,
            terms=(*compress(self.terms, kept), *(name(self.terms[place]) for place in chosen)),
            design=parted(self.design),
            made=lambda changed: parted(self.made(changed)),
        )

    def built(self, changed: Mapping[str, NDArray[Any]]) -> Array:
        """Return the (groups, cells, p) design for some changed known columns."""
        return self.made(changed)[self.rows.places]

    def has_categories(self, name: str) -> bool:
        """Return whether the formula uses a known column as categories, not as a number."""
        own = re.compile(rf"\bC\([^)]*(?<![\w.]){re.escape(name)}(?![\w.])")
        return self.known[name].dtype.kind not in "iuf" or any(map(own.search, self.terms))

    @property
    def cell_names(self) -> list[str]:
        """The names of the combinations."""
        return [
            ",".join(
                f"{column.name}={column.values[index]}"
                for column, index in zip(self.predictors, cell, strict=True)
            )
            for cell in self.cells
        ]


def table(
    formula: str,
    columns: Mapping[str, Column],
    known: Mapping[str, NDArray[Any]],
    family: str,
    weights: ArrayLike | None,
    offset: str | None = None,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    random: str | None = None,
) -> Table:
    """Read a formula with its columns, and check them. Arguments are those of `regress`."""
    try:
        # formulaic is optional, and takes longer to import than most analyses take to run.
        from analysis.study.regression.formula import design, offset_of
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"models need formulaic: {install_with('models')} ({error})"
        ) from None
    model = design(formula, columns, known)
    outcome = columns[model.outcome] if model.values is None else model.values
    predictors = [columns[name] for name in model.predictors]
    randomized = [*predictors, *([outcome] if isinstance(outcome, Column) else [])]
    for column in randomized:
        impossible = int((column.chances.max(axis=1) <= 0)[column.codes].sum())
        if impossible:
            raise ValueError(
                f'column "{column.name}" must hold reports that are possible under some value, got '
                f"{impossible} that are not"
            )
    if not isinstance(outcome, Column):
        check_known(family, model.outcome, outcome)
    added = np.zeros(len(model.matrix))
    if offset is not None:
        if family != "poisson":
            raise ValueError(
                f'only a poisson model takes an offset, got "{offset}" in a {family} one'
            )
        added = offset_of(offset, columns, known, len(added))
    keys = [
        added,
        *(np.asarray(known[name]) for name in model.known),
        outcome.codes if isinstance(outcome, Column) else outcome,
        *(column.codes for column in predictors),
    ]
    clusters_of = None if random is None else _clustering(random, columns, known, model, len(added))
    if clusters_of is not None:
        keys.append(clusters_of.of_row)
    checked = None if weights is None else check_weights(weights, len(model.matrix))
    drawn = check_clusters(clusters, strata, len(model.matrix))
    rows = group(keys, model.matrix, checked, drawn)
    rows.check_size(len(model.terms))
    # The offset may be correlated with predictors, like any known column.
    depends_on = [*zip(model.shares_terms, model.shares_matrix.T, strict=True)]
    if offset is not None and predictors:
        depends_on.append((offset, added))
    matrix = model.matrix[rows.places]
    shares = np.column_stack([column for _, column in depends_on])[rows.places]
    collinear = dependent(matrix, rows.times, model.terms)
    if collinear:
        raise ValueError(
            f"terms must not depend on each other, got {', '.join(collinear)}: leave one out"
        )
    chosen = independent(shares[:, None], rows.times)
    return Table(
        rows=rows,
        name=model.outcome,
        outcome=outcome.of(rows.places) if isinstance(outcome, Column) else outcome[rows.places],
        predictors=tuple(column.of(rows.places) for column in predictors),
        cells=model.cells,
        terms=model.terms,
        design=matrix,
        shares_terms=tuple(depends_on[index][0] for index in chosen),
        shares=shares[:, chosen],
        offset=added[rows.places],
        known={name: np.asarray(known[name]) for name in model.known},
        made=model.built,
        clustering=clusters_of and replace(clusters_of, of_row=clusters_of.of_row[rows.places]),
    )


def _clustering(
    name: str,
    columns: Mapping[str, Column],
    known: Mapping[str, NDArray[Any]],
    model: "Design",
    size: int,
) -> Clustering:
    """Return the clusters of a random intercept; raise `ValueError` if it cannot have any."""
    if name not in known:
        raise ValueError(
            f'a random intercept needs a known column, got "{name}", which is '
            + ("randomized: nobody knows who is in which cluster" if name in columns else "none")
        )
    if name in (model.outcome, *model.known):
        raise ValueError(f'the column "{name}" of a random intercept cannot be in the formula, too')
    labels = np.asarray(known[name])
    if labels.shape != (size,):
        raise ValueError(f"{name} must be one for each of {size} respondents, got {labels.shape}")
    return clustering(name, labels)
