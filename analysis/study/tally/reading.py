"""The reader of files of tallies, which checks everything in them that can be checked."""

from typing import Any

from analysis.study.tally import KIND, Tally
from analysis.study.tally.cells import read_cells, read_sizes
from analysis.study.tally.json_file import member, read_json
from analysis.study.tally.statement import read_whole
from analysis.survey.survey import Survey


def read_tally(name: str, content: bytes, survey: Survey | None = None) -> Tally:
    """Return the tally of a file.

    Parameters
    ----------
    name : str
        The file's name, with which messages begin.
    content : bytes
    survey : Survey, optional
        The frozen survey, for a file that does not hold it.

    Raises
    ------
    DataError
        If it is not a tally, or not the tally of any reports.
    """
    tally: Tally = read_json(name, content, lambda data: tally_in(data, survey))
    return tally


def tally_in(data: Any, survey: Survey | None = None) -> Tally:
    """Return the tally of a file's JSON; errors are those that `read_json` reports."""
    stated, reports = read_whole(data, KIND, {"questions"}, survey, frozenset({"sizes"}))
    asked_of = stated.survey
    tallies = member("questions", lambda: read_cells(asked_of, data["questions"]))
    for question in asked_of.questions:
        counted = question.randomizer.reports_in(tallies[question.id])
        if counted != reports:
            raise ValueError(
                f"questions: {question.id}: expected counts of {reports:,} reports, got {counted:,}"
            )
    for joint in asked_of.joint:
        asked = sum(each.randomizer.asked_in(tallies[each.id]) for each in joint.questions)
        if asked != joint.asks * reports:
            raise ValueError(
                f"questions: together {joint.id}: expected {joint.asks * reports:,} reports of "
                f"people who were asked, {joint.asks} of each, got {asked:,}"
            )
    sizes = None
    if "sizes" in data:
        sizes = member("sizes", lambda: read_sizes(asked_of, data["sizes"], tallies))
    return Tally(**vars(stated), reports=reports, tallies=tallies, sizes=sizes)
