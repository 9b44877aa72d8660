"""Check what a database, a backup and this installation hold, fact by fact."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from server.backups import age
from server.pages.browser_files import CLIENT, client_files, hash_of_all
from server.store import Store, StoreError
from server.store.reports import FEWEST

#: The meaning of the rows of each table.
_MEANING = {
    "survey": "the questions, public",
    "wave": "which waves are open",
    "report": "randomized answers, under a random number",
    "ledger": "what each pseudonym has spent",
    "tally": "how often each symbol was reported",
    "respondent_total": "how many pseudonyms have spent how much",
    "report_size": "how many reports count for how many symbols",
    "invitation": "hashes of invitations, and whether each was used",
    "research_token": "hashes of tokens printed by a running server",
    "researcher": "accounts, with hashes of their passwords",
    "session": "hashes of researchers' sessions",
    "browser": "hashes by which browsers are known in which researchers signed in, with times",
    "second_factor": "secrets of researchers' authenticator apps, with when each was used last",
    "recovery_code": "hashes of codes that stand for a lost app",
    "rule": "what owners decided for all accounts",
    "sent_form": "hashes of forms that researchers sent, so that none acts twice, with times",
    "throttle": "failed attempts to sign in, with times",
    "log": "what researchers did, with times",
    "cell": "how many reports each version got in each wave, and how many pages show",
    "snapshot": "tallies as pages show them",
    "simulated": "how many reports of each version and wave were simulated",
    "total_snapshot": "totals of pseudonyms as pages show them",
    "study": "how many respondents are planned, and when a survey opens and closes",
    "correction": "labels that were declared to mean the same",
    "draft": "surveys that are written in the browser, and what an import left out",
    "draft_version": "their last versions, with who changed what and when",
    "draft_file": "files that they name, such as lists of options",
    "setup": "hashes of links with which researchers set up accounts",
    "backup": "when the last backup of a series was made",
    "backed_up": "how many reports of each version and wave it had",
    "deniable": "of PostgreSQL: the schema, and when a server last deleted what was due",
    "settled": "of PostgreSQL: up to which transaction rows were written anew",
    "work": "tables and models that researchers asked for",
}


@dataclass(frozen=True)
class Finding:
    """A fact about a subject of some part of the collector; `ok` if it is as it should be."""

    part: str
    subject: str
    finding: str
    ok: bool


def audit_database(store: Store, today: date, part: str = "database") -> Iterator[Finding]:
    """Yield what a database keeps, and whether it is intact."""
    expected, expected_others = store.database.expected()
    tables = store.database.tables()
    for name in sorted(tables.keys() | expected.keys()):
        sql, rows = tables.get(name, ("", 0))
        meaning = _MEANING.get(name, "not a table of this program")
        # Equal to the statement of this release: the same columns, and no row numbers.
        ok = sql == expected.get(name)
        yield Finding(part, f"table {name}", f"{rows} rows: {meaning}", ok)
    others = store.database.other_objects()
    odd = sorted({name for name, _ in expected_others.items() ^ others.items()})
    finding = f"other than this release's: {', '.join(odd)}" if odd else "those of this release"
    yield Finding(part, "triggers, views and indexes", finding, not odd)
    integrity = store.database.integrity()
    yield Finding(part, "file", integrity, integrity == "ok")
    wrong = list(store.upkeep.discrepancies(today))
    finding = "; ".join(wrong) or "tallies agree with the reports, and charges with their cost"
    yield Finding(part, "counts", finding, not wrong)
    few = "; ".join(small_groups(store)) or f"none has fewer than {FEWEST}"
    yield Finding(part, "small groups, in which reports or pseudonyms stand out", few, True)
    yield Finding(part, *store.database.trace(), True)
    for setting in store.database.settings():
        yield Finding(part, setting.name, setting.found, setting.ok)
    whole = store.log.is_whole()
    *_, last = ["", *(entry.hash for entry in store.log.entries())]
    finding = f"is whole; its last hash is {last or 'none'}" if whole else "was changed"
    yield Finding(part, "log of what researchers did", finding, whole)
    yield Finding(
        part,
        "not stored, since there is no column for it",
        "answers, names, addresses, times, browsers, referrers, languages, row numbers",
        all(sql == expected.get(name) for name, (sql, _) in tables.items()),
    )


def small_groups(store: Store) -> list[str]:
    """Return a phrase for each group in a database that has fewer than `FEWEST` members.

    A survey of few respondents always has such groups, so they are no fault of the database.
    """
    groups = []
    for survey_id in store.surveys.ids():
        for (version, wave), n in store.reports.cells(survey_id).items():
            if n < FEWEST:
                groups.append(f"{survey_id}, version {version[:12]}, wave {wave}: {n} reports")
        for terms, n in sorted(store.ledger.respondents(survey_id).items()):
            if n < FEWEST:
                groups.append(f"{survey_id}, terms {terms[:12]}: {n} pseudonyms")
    return groups


def audit_backup(path: Path, today: date) -> Iterator[Finding]:
    """Yield the same facts about a backup, from a copy: the backup is not written to."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_copy(path, Path(folder) / path.name)
        yield from audit_database(store, today, str(path))
        store.close()


def open_copy(backup: Path, copy: Path) -> Store:
    """Return a store of a copy of a backup, brought to this release's schema.

    Raises
    ------
    StoreError
        If there is no such backup, or it is no database of ours.
    """
    if not backup.is_file():
        raise StoreError(f"{backup}: no such backup")
    if age.is_encrypted(backup):
        raise StoreError(
            f"{backup}: is encrypted; restore it with --identity, and audit the restored database"
        )
    shutil.copyfile(backup, copy)
    try:
        return Store(copy, upgrade=True)
    except StoreError as error:
        raise StoreError(str(error).replace(str(copy), str(backup))) from None


def audit_modules() -> Iterator[Finding]:
    """Yield the hash of each file that browsers run, as installed here, and one hash of all."""
    files = client_files(CLIENT)
    for name, file in files.items():
        yield Finding("module", name, file.integrity, True)
    yield Finding("module", "all files", hash_of_all(files), True)
