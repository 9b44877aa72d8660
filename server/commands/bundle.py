"""`deniable bundle` and `verify`: a study in one file, and the check of one."""

import re
from hashlib import sha256
from pathlib import Path

import click

from analysis.core.errors import DataError
from analysis.survey.files import open_file
from server.commands import (
    database,
    level_of_intervals,
    only_batches,
    print_message,
    record,
    survey_id,
    version_of_survey,
    wave_of_survey,
    write_new,
)
from server.store import Place, Store


def _is_license(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}", value):
        raise click.BadParameter(f'expected an SPDX name, such as CC-BY-4.0, got "{value[:64]}"')
    return value


@click.command()
@survey_id
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.zip",
    help="Write to this new file.",
)
@click.option(
    "--license",
    "license_",
    default="",
    callback=_is_license,
    metavar="NAME",
    help="The license of the data, such as CC-BY-4.0.  [none is stated]",
)
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="An author of the study, as it should be cited; may be given again.",
)
@click.option("--without-reports", is_flag=True, help="Leave the reports out: estimates only.")
@wave_of_survey
@version_of_survey
@level_of_intervals
@only_batches
@database
def bundle(
    survey_id: str,
    output: Path,
    license_: str,
    authors: tuple[str, ...],
    without_reports: bool,
    wave: int | None,
    version: str | None,
    level: float,
    batch: bool,
    db: Place,
) -> None:
    """Write one zip of a study: reports, estimates, codebook, methods, and how to check them.

    It reveals no more than export, estimate and codebook do. The same study gives the same bytes.
    """
    from server.stored_bundle import bundle_of
    from server.stored_results import StoredWave

    store = Store(db)
    stored = StoredWave(store, survey_id, wave, version, batch)
    zipped = bundle_of(
        stored,
        level,
        with_reports=not without_reports,
        license=license_,
        authors=authors,
    )
    record(store, "bundle", f"{survey_id} {stored.version}, wave {stored.number}")
    write_new(output, zipped)
    for note in stored.simulated_notes:
        print_message(note)
    if stored.is_open and not batch:
        print_message(
            f"wave {stored.number} is open: another bundle would show which reports came in "
            "between: close it before you give a bundle away, or use --batch --without-reports"
        )
    print_message(
        f"written to {output}: {len(zipped):,} bytes, SHA-256 {sha256(zipped).hexdigest()}"
    )


#: The status of `verify` for a bundle whose results hold, and of which other files are unknown.
UNKNOWN = 3


@click.command()
@click.argument("file", metavar="FILE.zip", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Check a bundle: hashes, the survey's version, counts of reports, and every estimate again.

    It needs no database and no network. If a file is not as it should be, the command names it, and
    exits with 1. It exits with 3 if the results hold, but another release wrote files that cannot
    be compared with anything.
    """
    from analysis.study.bundle import LARGEST, verify_bundle

    try:
        with open_file(file) as opened:
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None
    found = verify_bundle(content)
    told = "the results follow from what it has" if found.unknown else "as it should be"
    click.echo(
        f"{file}: {told}. Survey {found.survey}, version {found.version}, wave "
        f"{found.wave}: {found.reports:,} reports, {found.estimates:,} estimates computed again, "
        f"{found.members} files with the stated hashes. SHA-256 {found.sha256}"
    )
    if not found.has_reports:
        print_message("it has no reports, so estimates were computed from its tallies alone")
    if found.unknown:
        programs = "its programs are those of that release"
        if not found.knows_programs:
            programs = "its programs are unknown to this release: run none of them"
        print_message(
            f"release {found.release} wrote the bundle, and {programs}. Not compared with anything "
            f"but the hashes in the bundle, which can be changed with them: "
            f"{', '.join(found.unknown)}"
        )
        raise SystemExit(UNKNOWN)
