"""The types of LimeSurvey's questions, and the attributes that each of them has."""

from collections.abc import Iterator

from server.forms.form import points
from server.forms.limesurvey.source import Question
from server.forms.source import Declared

#: Why types and tables are not imported.
REFUSED = Declared("limesurvey").refused
#: The types, by their letters.
NAMES = {
    "1": "array dual scale", "5": "5 point choice", "A": "array 5 point", "B": "array 10 point",
    "C": "array yes/uncertain/no", "D": "date", "E": "array increase/same/decrease", "F": "array",
    "G": "gender", "H": "array by column", "I": "language switch", "K": "multiple numerical",
    "L": "list (radio)", "M": "multiple choice", "N": "numerical", "O": "list with comment",
    "P": "multiple choice with comments", "Q": "multiple short text", "R": "ranking",
    "S": "short text", "T": "long text", "U": "huge text", "X": "text display", "Y": "yes/no",
    "!": "list (dropdown)", ":": "array (numbers)", ";": "array (texts)", "*": "equation",
    "|": "file upload",
}  # fmt: skip
#: The points of scales whose answers LimeSurvey itself has.
POINTS = {
    "5": points(1, 5),
    "A": points(1, 5),
    "B": points(1, 10),
    "C": [("Y", "yes"), ("U", "uncertain"), ("N", "no")],
    "E": [("I", "increase"), ("S", "same"), ("D", "decrease")],
}
#: Attributes that only these types have. Others can carry them, since the tool keeps the attributes
#: of a question whose type its author has changed.
_OF_TYPES = {
    "K": (
        "slider_layout", "slider_min", "slider_max", "slider_accuracy", "slider_default",
        "slider_middlestart", "min_num_value", "max_num_value", "equals_num_value",
        "value_range_allows_missing",
    ),
    "KNQS": ("min_num_value_n", "max_num_value_n", "num_value_int_only", "prefix", "suffix"),
    "KNQSTU": ("maximum_chars", "placeholder"),
    "QS*": ("numbers_only",),
    "S": ("location_mapservice",),
    "D": ("date_min", "date_max"),
    "L!O": ("alphasort",),
    "P": ("commented_checkbox", "commented_checkbox_auto"),
    "1": ("dualscale_headerA", "dualscale_headerB"),
    ":": ("multiflexible_max", "multiflexible_min", "multiflexible_step", "multiflexible_checkbox"),
    "R": ("max_subquestions",),
    "*": ("equation",),
    "MPABCEFKQR1:;": (
        "exclude_all_others", "exclude_all_others_auto", "min_answers", "max_answers",
    ),
    "LMPABCEFKQR1:;": ("array_filter", "array_filter_exclude"),
    "LMPABCEFHKQOR1:;!": ("random_order", "answer_order", "subquestion_order"),
}  # fmt: skip
_OF_OTHER = (
    "other_replace_text", "other_comment_mandatory", "other_numbers_only", "other_position",
    "other_position_code",
)  # fmt: skip


def unused(question: Question, has_scores: bool) -> Iterator[str]:
    """Yield the attributes and cells that the tool itself does not use for a question."""
    for types, keys in _OF_TYPES.items():
        if question.type not in types:
            yield from keys
    if not question.has_other:
        yield from _OF_OTHER
    if not has_scores or question.type not in "MPL!O5ABCEFH1RY":
        yield "assessment_value"
