"""The tables, and how a database of an earlier release becomes one of this one.

What a table has no column for cannot be kept. Tables that respondents write to have no time,
address, user agent, referrer or language, and no order of arrival: they are WITHOUT ROWID, with
random keys. The only column that `ledger` or `invitation` have in common with `report` is the
survey's id, and an invitation's wave, so that no JOIN finds a smaller group than all of a survey.
Only `log`, `throttle`, `setup`, `browser`, `second_factor`, `sent_form`, `draft_version`, `backup`
and `backed_up` know time: they say what researchers and operators did.
"""

#: The mark of a file that is ours ("deni"), as `PRAGMA application_id`.
APPLICATION_ID = 0x64656E69

#: The statements that made each schema version, in order; `PRAGMA user_version` counts them.
#: A released entry is never changed: databases have been made by it.
MIGRATIONS = (
    """
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
CREATE TABLE ledger (survey TEXT, respondent BLOB, version TEXT, wave INTEGER,
    submissions INTEGER NOT NULL, charged INTEGER NOT NULL,
    PRIMARY KEY (survey, respondent, version, wave)) WITHOUT ROWID;
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    symbol INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, symbol)) WITHOUT ROWID;
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID
""",
    """
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END
""",
    # The ledger had the version and the wave, as `report` has: a group of one linked the two.
    """
ALTER TABLE ledger RENAME TO ledger_of_versions;
CREATE TABLE ledger (survey TEXT, respondent BLOB, terms BLOB, submissions INTEGER NOT NULL,
    charged INTEGER NOT NULL, PRIMARY KEY (survey, respondent, terms)) WITHOUT ROWID;
WITH priced AS MATERIALIZED (SELECT id, version, terms_of(spec, version) AS terms FROM survey)
    INSERT INTO ledger SELECT survey, respondent, terms, sum(submissions), sum(charged)
    FROM ledger_of_versions AS old LEFT JOIN priced
    ON priced.id = old.survey AND priced.version = old.version GROUP BY survey, respondent, terms;
DROP TABLE ledger_of_versions
""",
    # Running totals of respondents, and of what reports count for; many counts in a row, since a
    # report of 256 bits adds to half of them.
    """
ALTER TABLE tally RENAME TO tally_of_symbols;
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
INSERT INTO tally SELECT survey, version, wave, question, cohort, symbol / 512,
    counts_of(symbol % 512, n) FROM tally_of_symbols GROUP BY 1, 2, 3, 4, 5, 6;
DROP TABLE tally_of_symbols;
CREATE TABLE report_size (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
INSERT INTO report_size SELECT report.survey, report.version, wave, key, 0, value / 512,
    counts_of(value % 512, 1) FROM report
    JOIN survey ON survey.id = report.survey AND survey.version = report.version,
    json_each(sizes_of(spec, survey.version, payload)) GROUP BY 1, 2, 3, 4, 6;
CREATE TABLE respondent_total (survey TEXT, answered TEXT, charged INTEGER,
    respondents INTEGER NOT NULL, PRIMARY KEY (survey, answered, charged)) WITHOUT ROWID;
INSERT INTO respondent_total SELECT survey, answered, charged, count(*) FROM (
    SELECT survey, answered_as(lower(hex(terms)), submissions) AS answered, sum(charged) AS charged
    FROM ledger GROUP BY survey, respondent) GROUP BY survey, answered, charged
""",
    # What pages show: snapshots of the counts, two of each version and wave; and of the totals,
    # whose cell has neither (version '', wave 0). Earlier counts had been seen, so they are shown.
    """
CREATE TABLE cell (survey TEXT, version TEXT, wave INTEGER, n INTEGER NOT NULL,
    shown INTEGER NOT NULL, next INTEGER NOT NULL, settled INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave)) WITHOUT ROWID;
CREATE TABLE snapshot (survey TEXT, version TEXT, wave INTEGER, taken INTEGER, what TEXT,
    question TEXT, cohort INTEGER, block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, taken, what, question, cohort, block)) WITHOUT ROWID;
CREATE TABLE total_snapshot (survey TEXT, taken INTEGER, answered TEXT, charged INTEGER,
    respondents INTEGER NOT NULL, PRIMARY KEY (survey, taken, answered, charged)) WITHOUT ROWID;
INSERT INTO cell SELECT id, version, wave, n, n, n, 0 FROM (SELECT id, survey.version, wave,
    reports_in(spec, survey.version, question, cohort, block, counts) AS n
    FROM tally JOIN survey ON survey.id = tally.survey AND survey.version = tally.version
    GROUP BY id, survey.version, wave);
INSERT INTO snapshot SELECT tally.survey, tally.version, tally.wave, n, 'tally', question, cohort,
    block, counts FROM tally JOIN cell USING (survey, version, wave);
INSERT INTO snapshot SELECT size.survey, size.version, size.wave, n, 'report_size', question,
    cohort, block, counts FROM report_size AS size JOIN cell USING (survey, version, wave);
UPDATE cell SET settled = 1 WHERE EXISTS (SELECT 1 FROM wave
    WHERE wave.survey = cell.survey AND wave.wave = cell.wave AND wave.state <> 'open');
INSERT INTO cell SELECT survey, '', 0, sum(n), sum(n), sum(n), min(settled) FROM cell
    GROUP BY survey;
INSERT INTO total_snapshot SELECT survey, n, answered, charged, respondents
    FROM respondent_total JOIN cell USING (survey) WHERE cell.version = '';
CREATE TABLE study (survey TEXT PRIMARY KEY, planned INTEGER, state TEXT NOT NULL,
    opens TEXT, closes TEXT, trial INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE correction (survey TEXT, question TEXT, before TEXT, after TEXT,
    PRIMARY KEY (survey, question, before, after)) WITHOUT ROWID;
CREATE TABLE work (key TEXT PRIMARY KEY, number INTEGER NOT NULL, survey TEXT NOT NULL,
    asked TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, part REAL NOT NULL,
    result TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE setup (hash BLOB PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,
    until REAL NOT NULL) WITHOUT ROWID
""",
    # Survey files that are written in the console, with what researchers did to them.
    """
CREATE TABLE draft (id TEXT PRIMARY KEY, imported TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE draft_version (draft TEXT, number INTEGER, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, toml TEXT NOT NULL, PRIMARY KEY (draft, number)) WITHOUT ROWID;
CREATE TABLE draft_file (draft TEXT, name TEXT, content BLOB NOT NULL,
    PRIMARY KEY (draft, name)) WITHOUT ROWID
""",
    # How many reports were simulated: so far (taken -1), and at each snapshot. No report bears a
    # mark. For earlier reports, the log says how many simulated ones were sent to a version: no
    # more can be there. A trial has no others.
    """
CREATE TABLE simulated (survey TEXT, version TEXT, wave INTEGER, taken INTEGER,
    reports INTEGER NOT NULL, PRIMARY KEY (survey, version, wave, taken)) WITHOUT ROWID;
INSERT INTO simulated SELECT survey, version, wave, -1, min(n, made_up) FROM (
    SELECT cell.survey, version, wave, n, CASE WHEN trial = 1 THEN n ELSE (
        SELECT sum(CAST(substr(subject, length(cell.survey || version) + 4) AS INTEGER))
        FROM log WHERE what = 'simulate'
        AND subject LIKE cell.survey || ' ' || version || ', % made-up respondents') END AS made_up
    FROM cell LEFT JOIN study ON study.survey = cell.survey WHERE version <> '')
    WHERE made_up > 0;
INSERT INTO simulated SELECT DISTINCT survey, version, wave, snapshot.taken,
    min(snapshot.taken, reports) FROM snapshot JOIN simulated USING (survey, version, wave)
    WHERE simulated.taken = -1
""",
    # How many reports the last backup of a series had, without simulated ones, and since which
    # backup there are that many.
    """
CREATE TABLE backup (at TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE backed_up (survey TEXT, version TEXT, wave INTEGER, reports INTEGER NOT NULL,
    since TEXT NOT NULL, PRIMARY KEY (survey, version, wave)) WITHOUT ROWID
""",
    # How researchers prove who they are, what owners decided for all, and which forms were sent.
    """
CREATE TABLE browser (researcher TEXT, hash BLOB, until REAL NOT NULL,
    PRIMARY KEY (researcher, hash)) WITHOUT ROWID;
CREATE TABLE second_factor (researcher TEXT PRIMARY KEY, secret TEXT NOT NULL,
    step INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE recovery_code (researcher TEXT, hash BLOB, PRIMARY KEY (researcher, hash))
    WITHOUT ROWID;
CREATE TABLE rule (name TEXT PRIMARY KEY) WITHOUT ROWID;
ALTER TABLE researcher ADD COLUMN mark TEXT NOT NULL DEFAULT '';
DROP TABLE session;
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL, number INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE sent_form (hash BLOB PRIMARY KEY, outcome TEXT NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID
""",
)

SCHEMA_VERSION = len(MIGRATIONS)


def statements(version: int, target: int = SCHEMA_VERSION) -> list[str]:
    """Return the statements that turn a database of schema `version` into one of `target`.

    The statements need the functions that `server.store.upgrade.prepare` gives a connection.
    """
    scripts = MIGRATIONS[version:target]
    return [statement for script in scripts for statement in script.strip().split(";\n")]


def added_counts(block: bytes, other: bytes) -> bytes:
    """Return the sum of two blocks of counts, written as `server.store.blocks` says.

    As one number each, the lowest byte first, they can be added at once: no count reaches 2^63, so
    no sum of two of them carries over into the next count.
    """
    total = int.from_bytes(block, "little") + int.from_bytes(other, "little")
    return total.to_bytes(max(len(block), len(other)), "little")
