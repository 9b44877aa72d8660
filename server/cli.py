"""The `deniable` command. Data goes to stdout, messages to stderr."""

from typing import Any

import click

from analysis.errors import AnswersError, DataError, SurveyError
from server.commands import (
    analyze,
    codebook,
    crosstab,
    decode,
    field,
    ledger,
    plan,
    regress,
    researchers,
    results,
    serve,
    simulate,
    survey,
    upkeep,
)
from server.deliver import Unreachable
from server.demo import MissingData
from server.results import Missing
from server.serving import PortError
from server.store import StoreError

#: Mistakes that are told in one line: the input's, not the program's.
_REFUSED = (
    *(SurveyError, AnswersError, DataError),
    *(StoreError, Missing, PortError, Unreachable, MissingData),
)

_COMMANDS = (
    *(survey.check, plan.plan, survey.publish, simulate.simulate),
    *(serve.serve, field.invite, field.open_, field.close, researchers.researcher, researchers.log),
    *(results.estimate, crosstab.crosstab_, regress.regress_, analyze.analyze, codebook.codebook_),
    *(results.plausibility, ledger.ledger, results.export, decode.decode_),
    *(upkeep.backup, upkeep.restore, upkeep.migrate, upkeep.audit, serve.demo),
)


class _Commands(click.Group):
    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except _REFUSED as error:
            raise click.ClickException(str(error)) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable")
def main() -> None:
    """Ask sensitive questions on the web without ever holding a true answer."""


for command in _COMMANDS:
    main.add_command(command)

if __name__ == "__main__":
    main()
