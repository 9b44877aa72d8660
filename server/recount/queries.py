"""The queries by which an engine counts reports in files: one text for every engine.

They use only what DuckDB and Spark understand alike. The table is `reports`, whose columns are
those of `deniable export --format parquet`: a report is a whole number or a text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.core.channels.bit_reports import ALPHABET
from analysis.core.csv_json import REPORT
from analysis.estimate.columns.of_survey import variable
from analysis.survey.question import Question

#: If a question has at most this many different reports, whole reports are counted.
_FEW = 2**16
#: The number of ones in each character of `ALPHABET`.
_ONES = "".join(str(place.bit_count()) for place in range(len(ALPHABET)))


def column_of(question: Question) -> str:
    """Return the name of the column of a question's reports: letters, digits and _."""
    return f"{REPORT}{variable(question.id)}"


def whole_reports(questions: Sequence[Question]) -> str:
    """Return the query of how often each report was made, or each row of reports on several."""
    columns = ", ".join(map(column_of, questions))
    return f"SELECT {columns}, count(*) AS often FROM reports GROUP BY {columns}"


@dataclass(frozen=True)
class PlaceQueries:
    """Queries for reports that can take too many values: sets and bits.

    Their parts are counted instead: the characters of bits, or the members of sets, by place.

    Attributes
    ----------
    parts : str
        Gives cohort, place (from 1), what is written there, how often, and in how many of these
        reports it is not above what stands before.
    sizes : str
        Gives the number of ones of a report, and how often; empty for sets.
    faults : str
        Gives how many reports have another form than the channel's.
    empty : str
        Gives how many reports are empty.
    """

    parts: str
    sizes: str
    faults: str
    empty: str


def place_queries(question: Question) -> PlaceQueries | None:
    """Return the queries for a question's reports; None if whole reports are to be counted."""
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    kind = channel.report_schema()["type"]
    cohorts = encoder.cohorts or 1
    if kind == "integer" or cohorts << min(channel.inputs, 64) <= _FEW:
        return None
    column = column_of(question)
    cohort, text = "''", column
    if encoder.cohorts is not None:
        cohort, text = f"split_part({column}, ':', 1)", f"split_part({column}, ':', 2)"
    colons = f"length({column}) - length(replace({column}, ':', ''))"
    fault = f"{column} IS NULL OR {colons} <> {int(encoder.cohorts is not None)}"
    sizes, unsorted = "", "0"
    if kind == "string":
        places, written = channel.length, f"substr({text}, place, 1)"
        fault += f" OR length({text}) <> {places}"
        digits = f"translate({text}, '{ALPHABET}', '{_ONES}')"
        ones = " + ".join(
            f"{ones} * ({places} - length(replace({digits}, '{ones}', '')))" for ones in range(1, 7)
        )
        sizes = f"SELECT {ones} AS ones, count(*) AS often FROM reports GROUP BY 1"
    else:
        places, written = channel.size, f"split_part({text}, '|', place)"
        bars = f"length({text}) - length(replace({text}, '|', ''))"
        fault += f" OR ({text} <> '' AND {bars} <> {places - 1})"
        before = f"split_part({text}, '|', greatest(place - 1, 1))"
        unsorted = (
            f"sum(CASE WHEN place > 1 AND try_cast({written} AS INT) <= try_cast({before} AS INT) "
            "THEN 1 ELSE 0 END)"
        )
    listed = ", ".join(f"({place})" for place in range(1, places + 1))
    return PlaceQueries(
        f"SELECT {cohort} AS cohort, place, {written} AS written, count(*) AS often, "
        f"{unsorted} AS unsorted FROM reports CROSS JOIN (VALUES {listed}) AS places(place) "
        f"WHERE {text} <> '' GROUP BY 1, 2, 3",
        sizes,
        f"SELECT count(*) AS often FROM reports WHERE {fault}",
        f"SELECT count(*) AS often FROM reports WHERE {text} = ''",
    )
