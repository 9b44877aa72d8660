"""The `deniable` command. Data goes to stdout, messages to stderr.

A command's module is imported when the command is called: most need numpy and scipy, which take
longer to import than some commands take to run.
"""

import os
from importlib import import_module
from typing import Any

import click

# Numpy reads this when it is imported. Its matrices are small here: with several threads they take
# several times as much CPU, and the weights of a designed channel depend on how many there are.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

#: The commands in the order of use: where each is, and what it does in a few words.
COMMANDS = {
    "check": ("survey.check", "Check a survey file; print each question's mechanism and ε."),
    "import": ("forms.import_", "Make a survey file from another tool's questionnaire."),
    "convert": ("forms.convert", "Write a survey as another tool's questionnaire."),
    "plan": ("plan.plan", "Print how precise each question will be, before fieldwork."),
    "simulate": ("simulate.simulate", "Randomize a table of made-up answers, as devices would."),
    "publish": ("survey.publish", "Freeze a survey, and store it; print its version."),
    "deploy": ("deploy.deploy", "Print the files of nginx, Caddy, systemd or compose."),
    "serve": ("serve.serve", "Publish surveys, open a wave of each, and serve them."),
    "invite": ("field.invite", "Print links, each for one person and one wave at a time."),
    "open": ("field.open_", "Open a wave, and close the others."),
    "close": ("field.close", "Take no more reports; delete those that are due."),
    "researcher": (
        "researchers.researcher",
        "Manage the accounts of researchers, who see results.",
    ),
    "log": ("log.log", "Print what researchers did."),
    "estimate": ("verbs.estimate", "Print debiased estimates with intervals."),
    "rank": ("verbs.rank", "Print which ranks each answer can have."),
    "crosstab": ("verbs.crosstab", "Print how the answers to two questions go together."),
    "test": ("verbs.test", "Test whether the true shares of a question can be these."),
    "compare": ("verbs.compare", "Print how shares differ between waves, or groups."),
    "trend": ("verbs.trend", "Print whether shares, or a mean, rise or fall over waves."),
    "regress": ("verbs.regress", "Fit a model with randomized outcomes or predictors."),
    "analyze": ("analyze.analyze", "Estimate from answers that were collected elsewhere."),
    "codebook": (
        "codebook.codebook_",
        "Print wording, codes, mechanisms, and a methods paragraph.",
    ),
    "plausibility": (
        "verbs.plausibility",
        "Check whether reports look genuine, or some are fakes.",
    ),
    "ledger": ("ledger.ledger", "Print what respondents have spent, and their limits."),
    "export": ("export.export", "Print the randomized reports, a row for each respondent."),
    "tally": ("tally.tally", "Export counts, and add up those of collectors that never meet."),
    "recount": ("recount.recount", "Count exported reports anew, by DuckDB, Spark or our own."),
    "bundle": ("bundle.bundle", "Write a study, and the means to check it, into one zip."),
    "verify": ("bundle.verify", "Check such a zip: hashes, counts, and every estimate again."),
    "decode": ("decode.decode_", "Estimate how often strings occur in google/rappor's reports."),
    "backup": ("backup.backup", "Copy the database to a new file, even while a server runs."),
    "prune": ("backup.prune", "Delete backups that must not, or need not, be kept."),
    "restore": ("restore.restore", "Check a backup, and make a database from it."),
    "copy": ("copy.copy", "Copy a database into PostgreSQL, or from there into a file."),
    "migrate": ("backup.migrate", "Bring an earlier release's database to this one's schema."),
    "audit": ("audit.audit", "Check what is stored, and what a server serves."),
    "doctor": ("doctor.doctor", "Check the proxy, the files and the machine of a collector."),
    "demo": ("serve.demo", "Replay a survey of 6,366 people; serve its results."),
}


#: Errors in the input, not in the program, which are reported in one line. They are listed by name,
#: since their modules take long to load.
REFUSALS = {
    "analysis.core.errors": ("SurveyError", "AnswersError", "DataError"),
    "server.store.errors": ("StoreError",),
    "server.stored_results": ("Missing", "Withheld"),
    "server.formats.table": ("Unwritable",),
    "server.serving": ("PortError",),
    "server.deliver": ("Unreachable",),
}


def _is_refusal(error: Exception) -> bool:
    return any(kind.__name__ in REFUSALS.get(kind.__module__, ()) for kind in type(error).__mro__)


class _Commands(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(".")
        command: click.Command = getattr(import_module(f"server.commands.{module}"), attribute)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:
            if _is_refusal(error):
                raise click.ClickException(str(error)) from None
            raise


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable")
def main() -> None:
    """Ask sensitive questions on the web so that nobody can be sure of anybody's answer."""


if __name__ == "__main__":
    main()
