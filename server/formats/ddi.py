"""The codebook of the table of reports as DDI-Codebook 2.5, which archives of social science read.

Elements stand in the order of the schema (DDI Alliance, codebook.xsd, 2014).
"""

from importlib.metadata import version
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from analysis.privacy.meaning import rounded_up
from analysis.study.report_columns import HOW_TO_USE, ReportColumn
from server.formats.table import ReportsTable, shortened

_NAMESPACE = "ddi:codebook:2_5"
_SCHEMA = "https://ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
#: The longest text of an element, in bytes.
_LONGEST = 8000


def write(table: ReportsTable) -> bytes:
    """Return an .xml file that describes the study and each column of its reports as CSV."""
    register_namespace("", _NAMESPACE)
    register_namespace("xsi", _INSTANCE)
    book = Element(_tag("codeBook"), {"version": "2.5"})
    book.set(f"{{{_INSTANCE}}}schemaLocation", f"{_NAMESPACE} {_SCHEMA}")
    _study(book, table)
    file = SubElement(book, _tag("fileDscr"), {"ID": "F1"})
    text = SubElement(file, _tag("fileTxt"))
    _add(text, "fileName", f"{table.survey.id}-reports.csv")
    size = SubElement(text, _tag("dimensns"))
    _add(size, "caseQnty", str(table.rows))
    _add(size, "varQnty", str(len(table.columns)))
    _add(text, "fileType", "text/csv")
    data = SubElement(book, _tag("dataDscr"))
    for number, column in enumerate(table.columns, 1):
        _variable(data, table, number, column)
    indent(book, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(book, "unicode")}\n'.encode()


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"


def _add(parent: Element, name: str, text: str, **attributes: str) -> Element:
    element = SubElement(parent, _tag(name), attributes)
    element.text = shortened(text, _LONGEST)
    return element


def _study(book: Element, table: ReportsTable) -> None:
    survey = table.survey
    study = SubElement(book, _tag("stdyDscr"))
    citation = SubElement(study, _tag("citation"))
    title = SubElement(citation, _tag("titlStmt"))
    _add(title, "titl", table.title)
    _add(title, "IDNo", f"{survey.id}:{table.version}:{table.wave}")
    produced = SubElement(citation, _tag("prodStmt"))
    _add(produced, "software", "deniable", version=version("deniable"))
    method = SubElement(study, _tag("method"))
    collection = SubElement(method, _tag("dataColl"))
    _add(collection, "collMode", "Web questionnaire, whose answers the device randomizes")
    _add(collection, "weight", HOW_TO_USE)
    _add(
        collection,
        "cleanOps",
        "None: reports are as they were sent. Each answer was randomized on the respondent's "
        "device, with local differential privacy; nobody has the true answers.",
    )


def _variable(data: Element, table: ReportsTable, number: int, column: ReportColumn) -> None:
    """Add a variable; its parts are in the schema's order."""
    question = column.question
    variable = SubElement(
        data,
        _tag("var"),
        {
            "ID": f"V{number}",
            "name": column.name,
            "files": "F1",
            "intrvl": "contin" if column.kind == "number" else "discrete",
        },
    )
    _add(variable, "labl", column.label)
    if column.is_noisy:
        asked = SubElement(variable, _tag("qstn"))
        _add(asked, "qstnLit", table.survey.wording(question))
        told = (
            f"Randomized report by {question.mechanism.name}, ε = "
            f"{rounded_up(question.randomizer.epsilon, 4)}. It is not the answer: do not tabulate "
            "it."
        )
    else:
        told = (
            "Debiased weight: its mean is unbiased, and its standard deviation over the square "
            "root of n is the standard error, randomization included."
        )
    _add(variable, "txt", told)
    for code, label in column.values.items():
        category = SubElement(variable, _tag("catgry"))
        _add(category, "catValu", str(code))
        _add(category, "labl", label)
        if code in column.codes:
            _add(category, "txt", f"code in the survey file: {column.codes[code]}")
    kind = "character" if column.kind == "string" else "numeric"
    SubElement(variable, _tag("varFormat"), {"type": kind, "schema": "other"})
