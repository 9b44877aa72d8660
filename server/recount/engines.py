"""Engines that count reports in files: DuckDB, Spark, and our own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from analysis.core.errors import DataError
from analysis.core.extras import install_with
from analysis.survey.question import Question
from server.recount.queries import column_of, whole_reports

#: Our own engine reads this many reports at once.
_AT_ONCE = 2**16
#: The memory that DuckDB may use; it puts everything else on the disk.
_MEMORY = "2GB"


class MissingPackage(Exception):
    """A package, or Java, that an engine needs and that is not there; the message says which."""


#: Rows of cells as files have them, and how often each came.
Rows = Iterator[tuple[Sequence[Any], int]]


class Engine(Protocol):
    """A program that counts the reports of some files."""

    def whole(self, questions: Sequence[Question]) -> Rows:
        """Yield rows of reports on some questions, and how often each came; a row may repeat."""

    def query(self, text: str) -> list[Sequence[Any]] | None:
        """Return the rows of a query of `queries`; None if the engine runs none."""


class Own:
    """Reads files a few thousand reports at a time, and needs no other engine."""

    def __init__(self, files: Sequence[str]) -> None:
        self._parquet = needed("pyarrow.parquet", "formats")
        self._pyarrow = needed("pyarrow", "formats")
        self._files = files

    def whole(self, questions: Sequence[Question]) -> Rows:
        names = [column_of(question) for question in questions]
        for file in self._files:
            with self._parquet.ParquetFile(file) as opened:
                _check_columns(file, names, opened.schema_arrow.names)
                for batch in opened.iter_batches(_AT_ONCE, columns=names):
                    table = self._pyarrow.Table.from_batches([batch])
                    counted = table.group_by(names).aggregate([([], "count_all")])
                    columns = [counted[name].to_pylist() for name in names]
                    yield from zip(
                        zip(*columns, strict=True), counted["count_all"].to_pylist(), strict=True
                    )

    def query(self, text: str) -> None:
        return None


class _WithQueries:
    """An engine that is asked by queries."""

    def __init__(self, ask: Callable[[str], list[Sequence[Any]]]) -> None:
        self._ask = ask

    def whole(self, questions: Sequence[Question]) -> Rows:
        for row in self.query(whole_reports(questions)):
            yield row[:-1], int(row[-1])

    def query(self, text: str) -> list[Sequence[Any]]:
        return self._ask(text)


@contextmanager
def own(files: Sequence[str]) -> Iterator[Engine]:
    """Count without another engine."""
    yield Own(files)


@contextmanager
def duckdb(files: Sequence[str]) -> Iterator[Engine]:
    """Count by DuckDB, within this process."""
    package = needed("duckdb", "duckdb")
    for file in files:
        if set(file) & set("*?["):
            raise DataError(f"{file}: expected a path without *, ? and [, which DuckDB expands")
    with package.connect(":memory:") as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET autoinstall_known_extensions = false")
        connection.read_parquet([*files]).create_view("reports")
        yield _WithQueries(lambda text: connection.execute(text).fetchall())


@contextmanager
def spark(files: Sequence[str]) -> Iterator[Engine]:
    """Count by Spark: the cluster that its own settings name, or this machine."""
    package = needed("pyspark.sql", "spark")
    errors = needed("pyspark.errors", "spark")
    builder = package.SparkSession.builder.appName("deniable recount")
    try:
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
    except errors.PySparkException as error:
        raise MissingPackage(
            "Spark does not start: it needs Java, on Debian default-jre-headless "
            f"({str(error).partition(chr(10))[0]})"
        ) from None
    try:
        session.sparkContext.setLogLevel("OFF")
        session.read.parquet(*files).createOrReplaceTempView("reports")
        yield _WithQueries(lambda text: [tuple(row) for row in session.sql(text).collect()])
    finally:
        session.stop()


ENGINES = {"own": own, "duckdb": duckdb, "spark": spark}


def is_of_engine(error: Exception) -> bool:
    """Return whether an error is an engine's own, about the files that it was given."""
    own = {"duckdb", "_duckdb", "pyspark", "py4j", "pyarrow"}
    return any(kind.__module__.partition(".")[0] in own for kind in type(error).__mro__)


def refusal_of(error: Exception) -> str:
    """Return what an engine complains of, in one line."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"


def needed(name: str, extra: str) -> Any:
    """Return a module of an optional package; MissingPackage says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"recounts by this engine need {name}: {install_with(extra)} ({error})"
        ) from None


def _check_columns(file: str, needed: Sequence[str], there: Sequence[str]) -> None:
    for name in needed:
        if name not in there:
            raise DataError(f"{file}: expected a column {name}, got none")
