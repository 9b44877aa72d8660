"""A plan as one page: an HTML file to keep, send and print, which fetches nothing."""

import re
from collections.abc import Callable, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.core.epsilon import MICRO
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import percent_at_most, strongest_posterior
from analysis.survey.survey import spent_on
from server.plan import epsilons, estimates
from server.plan.parts import Part, cell
from server.plan.tables import Asked

_TEMPLATES = Environment(
    loader=PackageLoader("server"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


_TIED = re.compile(r"(?<=[εδρn]) (?==)|(?<=[εδρn] =) |(?<=±) (?=\d)|(?<=\d) (?=%)")


def _tied(words: str) -> str:
    """Put no-break spaces into "ε = 1" and "± 5", and between a number and its "%"."""
    return _TIED.sub("\N{NO-BREAK SPACE}", words)


_TEMPLATES.filters |= {"cell": cell, "tied": _tied}


def render(title: str, lead: str, sections: Sequence[tuple[str, str, Part]], foot: str) -> str:
    """Return the page as one HTML text, without a script and without a request to anywhere.

    Sections are given as id, heading and contents; those without contents are left out.
    """
    return _TEMPLATES.get_template("plan.html").render(
        title=title,
        lead=lead,
        sections=[section for section in sections if section[2]],
        foot=foot,
    )


def render_sections(sections: Sequence[tuple[str, str, Part]]) -> str:
    """Return sections without their page, for a page that has its own head."""
    return _TEMPLATES.get_template("plan_sections.html").render(
        sections=[section for section in sections if section[2]]
    )


def render_part(part: Part) -> str:
    """Return what one section shows, without its heading."""
    return _TEMPLATES.get_template("plan_part.html").render(part=part)


def _computed(asked: Asked) -> Part:
    """Return the section that says how the numbers were computed."""
    texts = [
        "Half-widths of shares are sums over all counts, or over 20,000 evenly spaced ones if "
        "there are more. Half-widths of means, and of shares that reports do not simply support, "
        "are averages over drawn tallies. Power of shares is a sum over counts, too; for "
        "differences, beyond some thousand respondents, it follows the normal law. Power of means, "
        "and of the other shares, is that of the printed intervals of drawn tallies, within .02. "
        "Curves follow the normal law. At other ε than the survey's they belong to mechanisms with "
        "closed formulas, scaled to the question's own half-width, so they bend where another "
        "mechanism becomes the best.",
        "Totals of ε are proved for replacing all answers of one respondent, whatever they are. "
        "The smallest total, by convolution of all losses, requires that questions and waves are "
        "chosen without regard to this respondent's reports. All totals except the sum hold at "
        f"δ = {asked.delta:g}.",
        f"All random draws use the seed {asked.seed}, so the same command gives the same page.",
    ]
    return Part(texts)


#: The sections in their order: id, heading, and what makes them.
SECTIONS: tuple[tuple[str, str, Callable[[Asked], Part]], ...] = (
    ("precision", "How precise each question will be", estimates.precision),
    ("meaning", "What ε means here", epsilons.meaning),
    ("totals", "What several waves reveal together", epsilons.totals),
    ("half-widths", "What more respondents, or more ε, would buy", estimates.half_widths),
    ("together", "What one draw for several questions saves", estimates.one_draw),
    ("power", "Which differences will be found", estimates.power),
    ("split", "How to divide the cap over the questions", estimates.split),
    ("sample-run", "Surveys that could happen", estimates.sample_run),
    ("deployments", "Who else spends how much", epsilons.deployed),
    ("computed", "How this was computed", _computed),
)


def whole_page(asked: Asked, tick: Callable[[int], None] = lambda _: None) -> str:
    """Return the page as HTML; `tick` is called with 1 after each of `SECTIONS`."""
    sections = []
    for section_id, heading, make in SECTIONS:
        sections.append((section_id, heading, make(asked)))
        tick(1)
    survey = asked.survey
    return render(
        survey.text(survey.spec["title"]),
        lead(asked),
        sections,
        f"{survey.id}, version {survey.version[:12]}.",
    )


def lead(asked: Asked) -> str:
    """Return what is planned, in one sentence."""
    survey, respondents, waves = asked.survey, asked.respondents, asked.waves
    people = f"{respondents:,} respondent{'s' * (respondents != 1)}"
    often = "in one wave" if waves == 1 else f"in each of {waves} waves"
    spent = spent_on([(survey, waves)])
    cap = f"a cap of {in_epsilon(survey.cap).normalize():f}"
    within = f"of {cap}" if spent <= survey.cap else f"more than {cap}: nobody could answer all"
    belief = percent_at_most(strongest_posterior(0.5, spent / MICRO))
    return (
        f"{people} {often}, {100 * asked.level:g} % intervals; a respondent spends "
        f"ε = {in_epsilon(spent).normalize():f} in total, {within}. Whatever is asked of all these "
        f"reports together, they move a belief of 50 % to {belief} at most."
    )
