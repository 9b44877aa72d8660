"""Measure how easily the documentation reads: `python benchmarks/readability.py [COMMIT]`.

The table has one row for each page: words, grade, words a sentence, sentences over 30 words,
sentences in the passive, and sentences with two passives or more. Code, tables, headings, formulas
and addresses are left out; an item of a list is a sentence. With a commit, its pages are read
instead of those in the folder. The grade is that of Kincaid et al. (1975), in years of school.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: A sentence with more words is long.
LONG = 30
#: Participles that do not end in -ed, as far as the pages use them.
_IRREGULAR = (
    "begun bound broken brought built caught chosen cut done drawn driven fed felt found forgotten "
    "given held hidden kept known laid learned led left lost made meant met paid put read said "
    "seen sent set shown shut spent split stolen taken thought thrown told understood won worn "
    "written"
)
_PASSIVE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|being|gets?)\s+(?:(?:not|also|only|then|never|thus|now|once|"
    r"still|always|already|first|at once|\w+ly)\s+)?"
    rf"(?:\w{{2,}}ed|{'|'.join(_IRREGULAR.split())})\b",
    re.IGNORECASE,
)
_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|et al|cf|vs|Proc|No|pp|vol)\.")


@dataclass(frozen=True)
class Reading:
    """The counts of a page.

    `passives` counts sentences, and `chains` those with two or more passives.
    """

    words: int
    grade: float
    words_a_sentence: float
    long: int
    passives: int
    chains: int


def prose(page: str) -> list[str]:
    """Return the paragraphs and items of a page in Markdown, as plain text."""
    page = re.sub(r"```.*?```", "", page, flags=re.S)
    page = re.sub(r"^(?: {4,}(?![-*\d]).*| *\|.*|#.*|<.*|\s*[*_=-]{3,}\s*)$", "", page, flags=re.M)
    page = re.sub(r"\$\$.*?\$\$", "", page, flags=re.S)
    parts = re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", page)
    return [plain for plain in map(_plain, parts) if re.search(r"[^\W\d_]{2}", plain)]


def _plain(part: str) -> str:
    part = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", part)
    part = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", part)
    part = re.sub(r"`[^`]*`", "Code", part)
    return re.sub(r"\s+", " ", re.sub(r"^\s*(?:[-*]|\d+\.) |[*_>]", "", part)).strip()


def sentences(part: str) -> list[str]:
    """Return the sentences of a paragraph."""
    part = _ABBREVIATIONS.sub("abbr", part)
    return [
        one for one in re.split(r"(?<=[.!?:])[\"”)]*\s+(?=[\"“(A-Z0-9ΑΕεδ])", part) if _words(one)
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text)


def _syllables(word: str) -> int:
    spoken = re.sub(
        r"(?<=[^aeiouyltd])ed$|(?<=[^aeiouylsczgx])es$|(?<=[^aeiouyl])e$", "", word.lower()
    )
    return max(1, len(re.findall(r"[aeiouy]+", spoken)))


def read(page: str) -> Reading | None:
    """Count everything that makes a page hard to read; return None if it has no sentence."""
    told = [sentence for part in prose(page) for sentence in sentences(part)]
    if not told:
        return None
    lengths = [len(_words(sentence)) for sentence in told]
    words = [word for sentence in told for word in _words(sentence)]
    mean = len(words) / len(told)
    passives = [len(_PASSIVE.findall(sentence)) for sentence in told]
    return Reading(
        words=len(words),
        grade=0.39 * mean + 11.8 * sum(map(_syllables, words)) / len(words) - 15.59,
        words_a_sentence=mean,
        long=sum(length > LONG for length in lengths),
        passives=sum(number > 0 for number in passives),
        chains=sum(number > 1 for number in passives),
    )


def _git(*words: str) -> str:
    call = ["git", "-C", str(ROOT), *words]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


def pages(commit: str | None) -> dict[str, str]:
    """Return the text of each page by its path, from a commit or from the folder."""
    if commit is None:
        found = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
        return {path.relative_to(ROOT).as_posix(): path.read_text() for path in found}
    names = _git("ls-tree", "-r", "--name-only", commit, "--", ".").splitlines()
    names = [name for name in names if re.fullmatch(r"(?:docs/.+|[^/]+)\.md", name)]
    return {name: _git("show", f"{commit}:{name}") for name in names}


def main() -> None:
    """Print the table."""
    given = [text for text in sys.argv[1:] if text != "--smallest"]  # nothing here is smaller
    told = pages(given[0] if given else None)
    print("| page | words | grade | words a sentence | over 30 words | passive | two passives |")
    print("|---|---|---|---|---|---|---|")
    for name, page in (told | {"all": "\n\n".join(told.values())}).items():
        one = read(page)
        if one is None:
            continue
        numbers = f"{one.words:,} | {one.grade:.1f} | {one.words_a_sentence:.1f}"
        print(f"| {name} | {numbers} | {one.long} | {one.passives} | {one.chains} |")


if __name__ == "__main__":
    main()
