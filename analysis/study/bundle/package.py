"""The descriptions of a bundle: for archives and programs, its citation, and a page to read first.

Research archives know Data Packages (Frictionless Data, version 1 of the specification).
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.metadata import version
from typing import Any, get_args, get_origin

from analysis.core.csv_json import REPORT
from analysis.core.table import Origin, Simulated, columns_in
from analysis.estimate.estimates import Estimate
from analysis.study.bundle.archive import DESCRIPTION
from analysis.study.bundle.croissant import croissant
from analysis.study.bundle.study import BundledStudy
from analysis.study.bundle.tables import ChannelRow, Score, TallyCell, Together
from analysis.study.codebook import AuthorCode, Code
from analysis.study.label import Fact
from analysis.study.methods import simulated_of
from analysis.study.report_columns import HOW_TO_USE, report_columns
from analysis.survey.codes import CODES

#: A description of each member, and its media type, in the order in which a reader wants them.
_MEMBERS = {
    "README.md": ("What is in this bundle, and how to check it.", "text/markdown"),
    "estimates.csv": ("Debiased estimates with confidence intervals.", "text/csv"),
    "methods.md": ("A paragraph for the methods of a paper, with references.", "text/markdown"),
    "label.csv": ("What respondents were promised.", "text/csv"),
    "codebook.csv": (
        "Wording, codes, labels, weights, mechanism, ε, p and q of each value.",
        "text/csv",
    ),
    "codebook.json": ("The same as JSON.", "application/json"),
    "reports.csv": (f"The randomized reports, in no order of arrival. {HOW_TO_USE}", "text/csv"),
    "together.csv": (
        "Pairs of columns that were drawn together, so that products of their weights are biased. "
        "Let y be a weight of the first column, which has k values, and g one of the second, which "
        "has l. The share of people with both is the mean of y·g + excess·(y - 1/k)·(g - 1/l) "
        "over those who were asked both.",
        "text/csv",
    ),
    "study.R": (
        "Functions in base R that read the reports, and compute shares, means and differences "
        "between groups with standard errors and intervals.",
        "text/x-r",
    ),
    "survey.json": (
        "The frozen survey with the exact probabilities of all reports. The version is the SHA-256 "
        "of its RFC 8785 form.",
        "application/json",
    ),
    "tallies.json": (
        "For each question, the shape of its tally, and [cohort, symbol, count] for each cell that "
        "is not empty.",
        "application/json",
    ),
    "tallies.csv": ("The same as a table.", "text/csv"),
    "channels.csv": (
        "How each share and mean follows from sums of scores: a share is (x/m - q) / (p - q), and "
        "a mean is low + width A/B.",
        "text/csv",
    ),
    "scores.csv": ("What a count in each cell of a tally adds to each share and mean.", "text/csv"),
    "recompute.R": ("Computes estimates.csv again in base R.", "text/x-r"),
    "recompute.ipynb": (
        "Computes estimates.csv again with the software itself.",
        "application/x-ipynb+json",
    ),
    "CITATION.cff": ("How to cite this study.", "text/yaml"),
    "croissant.json": (
        "Files and columns as a Croissant description, for programs that load data sets.",
        "application/ld+json",
    ),
}

#: The classes whose fields are the columns of each table.
_TABLES: dict[str, tuple[type, ...]] = {
    "estimates.csv": (Origin, Estimate, Simulated),
    "label.csv": (Fact,),
    "tallies.csv": (TallyCell,),
    "codebook.csv": (Code, Simulated),
    "together.csv": (Together,),
    "channels.csv": (ChannelRow,),
    "scores.csv": (Score,),
}
_TYPES = {int: "integer", float: "number", str: "string", list: "string", dict: "object"}


#: The members that state sizes and hashes, and how each follows from the data package of all
#: members that were made before it. They are made in this order.
DESCRIPTIONS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "croissant.json": croissant,
    DESCRIPTION: dict,
}


def description(name: str, study: BundledStudy, members: Mapping[str, bytes]) -> bytes:
    """Return one of `DESCRIPTIONS`, which states the sizes and hashes of the other members."""
    others = {each: content for each, content in members.items() if each != name}
    return as_json(DESCRIPTIONS[name](_package(study, others))).encode()


def as_json(data: Any) -> str:
    """Return the text of a member in JSON."""
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _package(study: BundledStudy, members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the data package of these members, which states their sizes and hashes."""
    survey = study.survey
    package: dict[str, Any] = {
        "profile": "data-package",
        "name": f"{survey.id}-wave-{study.wave}-{survey.version[:12]}",
        "title": survey.text(survey.spec["title"]),
        "description": (
            f"Wave {study.wave} of a survey whose answers were randomized on the respondents' "
            f"devices. {HOW_TO_USE}"
        ),
    }
    if study.license:
        package["licenses"] = [{"name": study.license}]
    package["contributors"] = [{"title": name, "role": "author"} for name in study.authors]
    if not study.authors:
        del package["contributors"]
    package["deniable"] = study.facts()
    package["resources"] = [
        _resource(study, name, members[name]) for name in _MEMBERS if name in members
    ]
    return package


def _resource(study: BundledStudy, path: str, content: bytes) -> dict[str, Any]:
    told, media = _MEMBERS[path]
    resource: dict[str, Any] = {
        "name": path.lower().replace(".", "-"),
        "path": path,
        "profile": "tabular-data-resource" if media == "text/csv" else "data-resource",
        "description": told,
        "mediatype": media,
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content).hexdigest()}",
    }
    if media == "text/csv":
        schema = {"fields": _fields(study, path), "missingValues": [""]}
        resource |= {"format": "csv", "dialect": {"delimiter": ",", "lineTerminator": "\n"}}
        resource["schema"] = schema
    return resource


def _fields(study: BundledStudy, path: str) -> list[dict[str, str]]:
    if path == "reports.csv":
        return [
            {
                "name": column.name,
                "type": column.kind,
                "title": column.label,
                "description": (
                    "Randomized report: it is not the answer."
                    if column.name.startswith(REPORT)
                    else "Debiased weight: its mean is unbiased; a single weight means nothing."
                ),
            }
            for column in report_columns(study.survey)
        ]
    coded = (AuthorCode,) if Code in _TABLES[path] and CODES in study.survey.spec else ()
    *kinds, last = _TABLES[path]
    return [
        {"name": name, "type": _TYPES[_plain(hint)], "description": meaning}
        for name, (hint, meaning) in columns_in(*kinds, *coded, last).items()
    ]


def _plain(hint: Any) -> Any:
    """Return the class of a column's cells, apart from None."""
    origin = get_origin(hint)
    return origin if origin in _TYPES else (get_args(hint) or (hint,))[0]


def citation(study: BundledStudy) -> str:
    """Return the citation of the study and of the software, as a Citation File (CFF 1.2.0)."""
    survey, release = study.survey, version("deniable")

    # Strings of JSON are also strings of YAML.
    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    authors = study.authors or (f"The authors of the survey {survey.id}",)
    return "\n".join(
        [
            "cff-version: 1.2.0",
            'message: "If you use these data, please cite them and the software."',
            "type: dataset",
            f"title: {text(survey.text(survey.spec['title']))}",
            f"version: {text(f'{survey.version[:12]}, wave {study.wave}')}",
            *([f"license: {text(study.license)}"] if study.license else []),
            "authors:",
            *(f"  - name: {text(name)}" for name in authors),
            "references:",
            "  - type: software",
            '    title: "deniable: surveys whose answers are randomized before they are sent"',
            f"    version: {text(release)}",
            "    authors:",
            '      - name: "The deniable authors"',
            "",
        ]
    )


def readme(study: BundledStudy) -> str:
    """Return the page that a reader of the bundle opens first."""
    survey = study.survey
    listed = [
        f"| `{name}` | {told} |"
        for name, (told, _) in _MEMBERS.items()
        if name != "README.md" and (name != "reports.csv" or study.reports is not None)
    ]
    return "\n".join(
        [
            # A heading is one line.
            f"# {' '.join(survey.text(survey.spec['title']).split())}",
            "",
            f"Survey `{survey.id}`, version `{survey.version[:12]}`, wave {study.wave}, "
            f"{study.fieldwork.reports:,} reports. Answers were randomized on the respondents' "
            "devices before they were sent. Nobody has the true answers."
            + f" {simulated_of(study.fieldwork)}".rstrip(),
            "",
            "| file | what it is |",
            "|---|---|",
            *listed,
            f"| `{DESCRIPTION}` | A Data Package: columns, types, sizes and hashes of all files. |",
            "",
            "**Check it.** `deniable verify` with the file's name compares all hashes, counts the "
            "reports again, and computes every estimate again. `recompute.ipynb` does the same in "
            "Python, and `recompute.R` does it as far as base R can.",
            "",
            "**Compare groups.** Do not split the data by a noisy column: that compares groups of "
            "reports. The share of answer a to question Q among those who gave answer g to G is "
            "r = mean(debiased_Q_a · debiased_G_g) / mean(debiased_G_g), with the standard error "
            "sd((debiased_Q_a - r) · debiased_G_g) / mean(debiased_G_g) / √n; of questions that "
            "were drawn together `together.csv` corrects the products. Codes and labels are in "
            "`codebook.csv`.",
            "",
            '**In R**, without any package, `study.R` does all that: `source("study.R"); study <- '
            'read_study(); difference(study, "Q", by = "G")`.',
            "",
            f"**Licence.** {study.license or 'None is stated: ask the authors before reuse'}.",
            "",
        ]
    )
