"""An audit of the database that a researcher asked for: it reads all reports again."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from analysis.study.verbs import Progress
from server.audit.database import audit_database
from server.clock import today
from server.store import Store


@dataclass(frozen=True)
class Auditing:
    """An audit; a later `number` is another one."""

    name: ClassVar[str] = "audit"
    survey: str
    number: int

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return whether each finding is as it should be, without numbers of reports.

        Those move in batches on all pages; `deniable audit` prints them.
        """
        findings = []
        for place, finding in enumerate(audit_database(store, today())):
            progress(min(0.9, place / 30))
            findings.append({"subject": finding.subject, "ok": finding.ok})
        return {"findings": findings, "day": today().isoformat(), **asdict(self)}
