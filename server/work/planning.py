"""The exact numbers of a plan, which a researcher looks at while approximations are shown."""

from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.study.verbs import Progress
from server.plan.page import SECTIONS, render_sections
from server.plan.tables import Asked
from server.store import Store
from server.work.trial import to_try


@dataclass(frozen=True)
class Planning:
    """The sections of `deniable plan`, as a part of a page.

    `version` is that of the draft, or of the survey: another version has another plan.
    """

    name: ClassVar[str] = "plan"
    survey: str
    version: str
    respondents: int
    waves: int
    difference: float
    half_width: float | None

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return the sections as HTML."""
        survey = to_try(store, self.survey)
        if survey.version != self.version:
            raise ValueError("The draft was changed since; its plan is made anew.")
        asked = Asked(
            survey,
            self.respondents,
            self.waves,
            difference=self.difference,
            half_width=self.half_width,
        )
        sections = []
        for section_id, heading, make in SECTIONS:
            sections.append((section_id, heading, make(asked)))
            progress(len(sections) / len(SECTIONS))
        return {"sections": render_sections(sections)}
