"""Designs of several samples, or with unknown probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats
from analysis.estimate.columns.latent import Fitted, Law
from analysis.estimate.columns.latent_column import LatentColumn
from analysis.estimate.columns.measured import Cells, Precision, shares_of

#: So many respondents that the large-sample variance holds.
MANY = 1e6


@dataclass(frozen=True)
class Question:
    """A question that the same people were asked: its reports, and a matrix for each sample.

    `column` is None for the column of the design itself. `matrices` are (samples, 2^m, reports, k).
    """

    column: str | None
    reports: tuple[str, ...]
    matrices: Floats


@dataclass(frozen=True)
class LatentDesign:
    """The design of a column in each sample. `sample` is the column that names it, if any."""

    values: tuple[str, ...]
    unknowns: tuple[str, ...]
    sample: str | None
    samples: tuple[str, ...]
    questions: tuple[Question, ...]
    amounts: tuple[float, ...] | None
    mechanism: str

    @property
    def beside(self) -> tuple[str, ...]:
        names = (self.sample, *(question.column for question in self.questions))
        return tuple(name for name in names if name is not None)

    def is_report(self, cell: str) -> bool:
        return cell in self.questions[0].reports

    @property
    def law(self) -> Law:
        """The law of all reports, in the order of questions, then samples, then reports."""
        tables: list[Floats] = []
        blocks: list[int] = []
        for question in self.questions:
            for matrix in question.matrices:
                blocks += [len(tables)] * matrix.shape[1]
                tables.append(matrix)
        return Law(np.concatenate(tables, axis=1), np.array(blocks))

    def precision(self, stated: Mapping[str, float]) -> list[Precision]:
        """Return the precision of each share, each unknown and the mean, by the delta method.

        Samples are of equal size. Shares that are not stated are equal, and unknowns that are not
        stated are 1/2.
        """
        for name in self.unknowns:
            if not 0 <= stated.get(name, 0.5) <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {stated[name]:g}")
        shares = shares_of(self.values, stated, self.unknowns)
        point = np.append(shares, [stated.get(name, 0.5) for name in self.unknowns])
        law = self.law
        counts = law.chances(point) * MANY / len(self.samples)
        covariance = self._covariance(Fitted(law, counts, point, 0.0))
        rows = [*zip((*self.values, *self.unknowns), np.eye(law.size), strict=True)]
        if self.amounts is not None:
            rows.insert(0, ("mean", np.append(self.amounts, np.zeros(len(self.unknowns)))))
        return [
            Precision(term, float(row @ point), float(row @ covariance @ row)) for term, row in rows
        ]

    def _covariance(self, found: Fitted) -> Floats:
        """Return the covariance of estimates, times the number of respondents.

        Reports of the same person are independent given their class and the corner of unknowns.
        """
        law, moved = found.law, found.influences
        if moved is None:
            raise ValueError("the unknown numbers are not identified at the stated values")
        moved, k = moved * MANY, law.classes
        weights = law.weights(found.parameters[k:])[:, None] * found.parameters[:k]
        total = np.zeros((law.size, law.size))
        for sample in range(len(self.samples)):
            blocks = [sample + at * len(self.samples) for at in range(len(self.questions))]
            means = []
            for block in blocks:
                there = law.blocks == block
                chances, own = law.corners[:, there], moved[there]
                mean = np.einsum("crv,rj->cvj", chances, own)
                means.append(mean)
                square = np.einsum("cv,crv,ri,rj->ij", weights, chances, own, own)
                total += square - np.einsum("cv,cvi,cvj->ij", weights, mean, mean)
            both = np.sum(means, axis=0)
            total += np.einsum("cv,cvi,cvj->ij", weights, both, both)
        return np.asarray(total / len(self.samples))

    def read(self, name: str, cells: Cells) -> LatentColumn:
        law = self.law
        where = None
        if self.sample is not None:
            where = cells.codes(self.sample, self.samples, f'the samples of "{name}"')
        columns, start = [], 0
        for question in self.questions:
            codes = cells.codes(question.column or name, question.reports)
            size = len(question.reports)
            columns.append(start + codes + (0 if where is None else where * size))
            start += size * len(self.samples)
        chosen = np.column_stack(columns)
        # Samples without respondents must not be needed.
        there = np.flatnonzero(np.isin(law.blocks, law.blocks[np.unique(chosen)]))
        place = np.zeros(len(law.blocks), dtype=np.int64)
        place[there] = np.arange(len(there))
        if (left := law.only(there)).identified < law.size - 1:
            seen = set() if where is None else set(where.tolist())
            missing = [one for at, one in enumerate(self.samples) if at not in seen]
            raise cells.error(f'column "{name}": nobody is in the samples {", ".join(missing)}')
        return LatentColumn(
            name=name,
            values=self.values,
            unknowns=self.unknowns,
            law=left,
            cells=place[chosen],
            amounts=self.amounts,
            mechanism=self.mechanism,
        )
