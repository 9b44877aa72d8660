"""Reading designs that have several samples, or unknown probabilities.

Each is a matrix for each sample whose entries may depend on unknowns. Designs with a name are
shorthands for such matrices.
"""

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from analysis.core.errors import SurveyError, shown
from analysis.estimate import Floats
from analysis.estimate.columns.keys import (
    UNKNOWN,
    is_name,
    is_table,
    named_part,
    rows_of,
    sample_of,
    yes_first,
)
from analysis.estimate.columns.latent_design import LatentDesign, Question
from analysis.estimate.columns.named_designs import NAMED, Named, Numbers
from analysis.estimate.columns.unknowns import NAME, Polynomial, corners, parsed
from analysis.survey.document import Table
from analysis.survey.mechanism_file import probability

#: The most unknowns. Probabilities are kept for all ways in which the unknowns are 0 or 1.
_MOST_UNKNOWNS = 4
Matrix = list[list[Polynomial]]


def is_latent(table: Table) -> bool:
    """Return whether a column's table describes such a design."""
    if any(table.peek(key) is not None for key in ("sample", "unknown", "also")):
        return True
    design = table.peek("design")
    given = design if isinstance(design, dict) else {"name": design}
    named = NAMED.get(given["name"]) if isinstance(given.get("name"), str) else None
    if named is not None and (named.unknowns or named.classes):
        return True
    by_sample = any(isinstance(value, dict) or value == UNKNOWN for value in given.values())
    return by_sample or isinstance(table.peek("matrix"), dict)


def read_latent_design(
    table: Table,
    values: tuple[str, ...],
    reports: tuple[str, ...],
    amounts: tuple[float, ...] | None,
    yes: str | None,
) -> LatentDesign:
    """Return the design of a column with several samples, or with unknowns.

    Raises
    ------
    SurveyError
        If a key or number is wrong, a probability is impossible, or reports do not identify the
        unknown numbers.
    """
    sample = sample_of(table, None)
    if table.peek("matrix") is not None:
        design = _of_matrices(table, values, reports, amounts, sample)
    else:
        design = _of_name(table, values, amounts, yes, sample)
    law = design.law
    if law.identified < law.size - 1:
        raise SurveyError(
            f"{table.place}: reports do not identify the design: {law.size - 1} unknown numbers, "
            f"but {law.identified} independent equation{'s' * (law.identified != 1)}; use more "
            "samples with other probabilities, or fewer unknowns"
        )
    return design


def _of_matrices(
    table: Table,
    values: tuple[str, ...],
    reports: tuple[str, ...],
    amounts: tuple[float, ...] | None,
    sample: str | None,
) -> LatentDesign:
    unknowns = tuple(
        table.take(
            "unknown",
            lambda value: (
                isinstance(value, list)
                and len(value) <= _MOST_UNKNOWNS
                and all(isinstance(name, str) and NAME.fullmatch(name) for name in value)
                and len({*value, *values}) == len(value) + len(values)
            ),
            f"a list of at most {_MOST_UNKNOWNS} different names, each a letter or _ followed by "
            "letters, digits or _ (at most 64), none of them a value",
            [],
        )
    )
    also = table.take(
        "also",
        lambda value: is_table(value) and all(map(is_table, value.values())),
        "tables of other columns that the same people answered",
        {},
    )
    parts: list[tuple[str | None, Table, tuple[str, ...]]] = [(None, table, reports)]
    for name, given in also.items():
        part = Table(given, f'{table.place}: also "{name}"')
        words = part.take(
            "reports",
            lambda value: (
                isinstance(value, list) and len(value) > 1 and len(set(map(str, value))) > 1
            ),
            "a list of reports",
            list(reports),
        )
        parts.append((name, part, tuple(map(str, words))))
    samples = _samples(table, [part.peek("matrix") for _, part, _ in parts], sample)
    questions = []
    for name, part, words in parts:
        by_sample = _by_sample(part, "matrix", samples)
        matrices = [
            _corners(
                _entries(Table({"matrix": given}, where), words, values, unknowns), unknowns, where
            )
            for where, given in by_sample
        ]
        questions.append(Question(name, words, np.array(matrices)))
        part.finish()
    return LatentDesign(values, unknowns, sample, samples, tuple(questions), amounts, "matrix")


def _samples(table: Table, given: list[Any], sample: str | None) -> tuple[str, ...]:
    """Return the names of the samples in tables by sample; one empty name if there are none."""
    tables = [value for value in given if isinstance(value, dict)]
    if not tables:
        if sample is not None:
            raise table.error("sample", "left out, since no matrix or probability is by sample")
        return ("",)
    names = tuple(tables[0])
    if len(names) < 2 or any({*other} != {*names} for other in tables):
        raise SurveyError(
            f"{table.place}: expected two or more samples, the same in each table by sample, got "
            + " and ".join(shown(other) for other in tables)
        )
    if sample is None:
        raise table.error("sample", f"the name of the column that says {' or '.join(names)}")
    return names


def _by_sample(table: Table, key: str, samples: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Return for each sample the beginning of messages about a key, and the key's content."""
    given = table.take(key, lambda value: value is not None, "given")
    if isinstance(given, dict):
        return [(f"{table.place}: sample {name}", given[name]) for name in samples]
    return [(table.place, given)] * len(samples)


def _entries(
    table: Table, reports: tuple[str, ...], values: tuple[str, ...], unknowns: tuple[str, ...]
) -> Matrix:
    known = {name: Polynomial.unknown(name) for name in unknowns}

    def entry(row: int, given: Any) -> Polynomial:
        try:
            if isinstance(given, bool | list | dict):
                raise ValueError(f"a probability, got {shown(given)}")
            return parsed(str(given), known)
        except ValueError as error:
            raise SurveyError(f"{table.place}: row {row}: matrix: expected {error}") from None

    rows = rows_of(table, "matrix", reports, values)
    return [[entry(at, given) for given in row] for at, row in enumerate(rows, 1)]


def _corners(matrix: Matrix, unknowns: tuple[str, ...], place: str) -> Floats:
    """Return (2^m, reports, k) probabilities where unknowns are 0 or 1; refuse impossible ones."""
    for at, column in enumerate(zip(*matrix, strict=True), 1):
        total = sum(column, Polynomial.constant(Fraction(0)))
        if total.number is None or abs(total.number - 1) > Fraction(1, 10**9):
            got = "it depends on unknowns" if total.number is None else _decimal(total.number)
            raise SurveyError(
                f"{place}: each column of the matrix must sum to 1, whatever the unknowns are; "
                f'that of value {at} does not: {got} (write "1/3" rather than 0.333)'
            )
    chances = [
        [[entry.at(corner) for entry in row] for row in matrix] for corner in corners(unknowns)
    ]
    for row, value in product(range(len(matrix)), range(len(matrix[0]))):
        wrong = [table[row][value] for table in chances if not 0 <= table[row][value] <= 1]
        if wrong:
            raise SurveyError(
                f"{place}: matrix must hold probabilities from 0 to 1, whatever the unknowns are, "
                f"got {_decimal(wrong[0])} in row {row + 1} for value {value + 1}"
            )
    return np.array(chances, dtype=np.float64)


def _decimal(number: Fraction) -> str:
    """Return a number in 10 digits, even if it is too large for a float."""
    try:
        return f"{float(number):.10g}"
    except OverflowError:
        value = Decimal(number.numerator) / Decimal(number.denominator)
        return f"{Context(prec=10).plus(value).normalize():g}"


def _of_name(
    table: Table,
    values: tuple[str, ...],
    amounts: tuple[float, ...] | None,
    yes: str | None,
    sample: str | None,
) -> LatentDesign:
    part = named_part(table)
    name = part.take("name", lambda value: value in [*NAMED], f"one of {', '.join(NAMED)}")
    if len(values) != 2:
        raise table.error("values", f"two values, since {name} is for yes and no")
    order, named = yes_first(table, name, values, yes), NAMED[name]
    anchor = None
    if named.anchor is not None:
        anchor = part.take(
            "anchor",
            is_name,
            "the name of the column with the reports to the anchor question",
        )
    keys = (*named.parameters, *named.optional)
    samples = _samples(table, [part.peek(key) for key in keys], sample)
    unknowns, numbers = _parameters(part, named, samples)
    part.finish()
    table.finish()
    chances: dict[str | None, Callable[[Numbers], list[Fraction]]] = {None: named.chances}
    if anchor is not None:
        chances[anchor] = named.chances_of_anchor
    # Rows and columns are in the order of the values, rather than yes before no.
    rows = [order.index(value) for value in values]
    columns = [*rows, *range(2, 2 + len(named.classes))]
    questions = []
    for column, yes_of in chances.items():
        tables = []
        for at, given_numbers in enumerate(numbers):
            where = part.place + f": sample {samples[at]}" * (samples[at] != "")
            tables.append(_two_rows(yes_of, given_numbers, unknowns, where))
        matrices = np.array(tables)[:, :, rows][..., columns]
        questions.append(Question(column, values, matrices))
    return LatentDesign(
        values=(*values, *named.classes),
        unknowns=unknowns,
        sample=sample,
        samples=samples,
        questions=tuple(questions),
        amounts=None if named.classes else amounts,
        mechanism=name,
    )


def _parameters(
    part: Table, named: Named, samples: tuple[str, ...]
) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the unknowns of a named design, and the other parameters of each sample."""
    unknowns, numbers = list(named.unknowns), [dict[str, str]() for _ in samples]
    for key in (*named.parameters, *named.optional):
        if part.peek(key) is None and key in named.optional:
            given = [("", "0")] * len(samples)
        elif part.peek(key) == UNKNOWN:
            part.take(key, lambda _: True, "")
            unknowns.append(key)
            continue
        else:
            rows = _by_sample(part, key, samples)
            given = [(where, probability(Table({key: value}, where), key)) for where, value in rows]
        for known, (_, number) in zip(numbers, given, strict=True):
            known[key] = number
    return tuple(unknowns), numbers


def _two_rows(
    yes: Callable[[Numbers], list[Fraction]],
    numbers: dict[str, str],
    unknowns: tuple[str, ...],
    place: str,
) -> Floats:
    """Return (2^m, 2, k) probabilities of "yes" and of "no", where unknowns are 0 or 1."""
    tables = []
    for corner in corners(unknowns):
        try:
            row = yes(numbers | {key: str(value) for key, value in corner.items()})
        except ValueError as error:
            raise SurveyError(f"{place}: {error}") from None
        tables.append([row, [1 - chance for chance in row]])
    return np.array(tables, dtype=np.float64)
