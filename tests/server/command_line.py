"""Run `deniable` in this process, and read the tables that it prints."""

import csv
import io

from click.testing import CliRunner, Result

from server.cli import main


def run(*words: object, stdin: str | None = None) -> Result:
    """Run a command, given word by word."""
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin)


def refused(*words: object) -> str:
    """Run a command that is refused, and return its only line."""
    result = run(*words)
    assert result.exit_code == 1, result.output
    assert not result.stdout
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def table(result: Result) -> list[dict[str, str]]:
    """Return the rows of a table that a command printed as CSV, after it has succeeded."""
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))
