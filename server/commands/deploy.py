"""`deniable deploy`: print the files that run a collector."""

from pathlib import Path
from typing import Any

import click

from server.commands import print_message
from server.deploy import KINDS, Settings, SettingsError, made


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.option(
    "--host", required=True, help="The respondents' host name, which serves nothing else."
)
@click.option(
    "--research-host", help="Another name, for researchers' pages.  [reached by a tunnel]"
)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--research-port", type=click.IntRange(1, 65535), default=8001, show_default=True)
@click.option("--program", default=Settings.program, show_default=True, help="Path of the command.")
@click.option(
    "--folder", default=Settings.folder, show_default=True, help="Folder of the database."
)
@click.option(
    "--certificates",
    default=Settings.certificates,
    show_default=True,
    help="Folder of fullchain.pem and privkey.pem, for nginx.",
)
@click.option(
    "--challenges",
    default=Settings.challenges,
    show_default=True,
    help="Folder in which an ACME client answers, for nginx.",
)
@click.option("--backups", default="", help="Folder of daily backups.  [backups in --folder]")
@click.option(
    "--recipients",
    default=Settings.recipients,
    show_default=True,
    help="File of the public keys for which backups are encrypted.",
)
@click.option(
    "--mail", default=Settings.mail, show_default=True, help="Who gets a mail when a unit fails."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Write all files of this kind into this folder.  [print the first]",
)
def deploy(kind: str, output: Path | None, **given: Any) -> None:
    """Print a configuration with your names, ports and folders filled in.

    nginx and caddy are for the proxy, systemd for the collector beside it with its daily backup and
    audit, and compose for both in containers. compose-postgres has two collectors, a PostgreSQL
    database that they share, and the proxy in front of them. No file that exists is changed.
    """
    try:
        files = made(kind, Settings(**given))
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    if output is None:
        click.echo(next(iter(files.values())), nl=False)
        if len(files) > 1:
            print_message(
                f"{kind} has {len(files)} files ({', '.join(files)}): --output writes all"
            )
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in files:
            if (output / name).exists():
                raise click.ClickException(
                    f"{output / name}: already exists; move it away, or name another folder"
                )
        for name, text in files.items():
            (output / name).write_text(text, "utf-8")
            print_message(f"{output / name}")
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror}") from None
