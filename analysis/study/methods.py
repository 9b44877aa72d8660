"""A paragraph for a paper's section on methods, with its references."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.epsilon import MICRO
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import LABELS
from analysis.mechanisms.one_of_texts import text_share
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import rounded_up
from analysis.study.references import Cited
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on

#: The citation of the software, as in ``CITATION.cff``.
SOFTWARE = (
    "The deniable authors. deniable: surveys whose answers are randomized before they are sent, "
    "version {version} (CITATION.cff)"
)

#: The description and references of intervals, by the beginnings of their methods.
_INTERVALS: dict[str, tuple[str, tuple[str, ...]]] = {
    "clopper-pearson": ("Clopper and Pearson's, mapped through the channel", ("clopper1934",)),
    "wilson": ("Wilson's, mapped through the channel", ("wilson1927",)),
    "profile-likelihood": ("those of the profile likelihood between 0 and 1", ()),
    "feldman-cousins": ("Feldman and Cousins's, through the channel", ("feldman1998",)),
    "student-t": ("Student's", ()),
    "fieller": ("Fieller's, with Student's t", ("fieller1954",)),
    "constrained-likelihood": ("those of the likelihood of a normal mean within its bounds", ()),
    "bounded": ("Clopper and Pearson's, by the range of the scores", ("clopper1934",)),
    "normal": ("those of the normal law", ()),
    "least-favorable-score": (
        "all values that no one-sided test at {side:g} % excludes",
        ("huber1973",),
    ),
}

#: With more questions than this, only the least and the largest share of no answer are stated.
_LISTED = 5


@dataclass(frozen=True)
class Fieldwork:
    """The fieldwork that a methods section is about.

    Attributes
    ----------
    reports : int
        The number of reports behind the estimates.
    invited : int, optional
        The number of people who were invited to the wave; None if it is not known.
    simulated : int
        The number of reports that `deniable simulate` made, or that were made for a trial.
    is_open : bool
        Whether the wave is still open.
    in_batches : bool
        Whether later reports are withheld until a batch is complete.
    left_out : int
        The number of versions of the wave that are withheld, since they have too few reports.
    """

    reports: int
    invited: int | None = None
    simulated: int = 0
    is_open: bool = False
    in_batches: bool = False
    left_out: int = 0


def simulated_of(fieldwork: Fieldwork) -> str:
    """Return a sentence on the number of simulated reports; empty if there are none."""
    if not fieldwork.simulated:
        return ""
    were = "was" if fieldwork.simulated == 1 else "were"
    return f"{fieldwork.simulated:,} of {fieldwork.reports:,} reports {were} simulated."


def methods(
    survey: Survey,
    wave: int,
    rows: Sequence[Estimate],
    fieldwork: Fieldwork,
    population: int | None = None,
) -> str:
    """Return a paragraph for a paper's section on methods, with its references at the end.

    `survey` is the version that was asked, and `rows` are the reported estimates of the wave. If
    totals are reported, too, they are of `population` people.
    """
    cited, release = Cited(), version("deniable")
    has_texts = any(question.domain.estimand is Estimand.TEXTS for question in survey.questions)
    sentences = [
        f"Answers to \u201c{survey.text(survey.spec['title'])}\u201d (version "
        f"{survey.version[:12]}, wave {wave}, n = {fieldwork.reports:,}) were randomized on the "
        "respondents' devices before they were sent, so that no true answer was collected (local "
        f"differential privacy {cited.cite('kasiviswanathan2011')}).",
        *_response(survey, fieldwork),
        f"Mechanisms, with ε of one report: {_mechanisms(survey, cited)}.",
        "The exact probabilities of all reports are in the frozen survey "
        f"(/api/surveys/{survey.spec['id']}).",
        *_spent(survey, wave, cited),
        *_not_given(survey, rows),
        f"Shares are unbiased{' (those of texts nearly so)' * has_texts} and not clipped. Standard "
        "errors include the randomization. If each report either supports a value or does not, the "
        "standard error of its share is that of a binomial rate, divided by p \u2212 q. The rate "
        "is taken at the estimate or, if that is no possible share, at the nearest possible one.",
        *["Means are over the people who answered."] * any(row.term == "mean" for row in rows),
        "Respondents are taken as an independent sample; nothing corrects for nonresponse.",
        f"Intervals at {100 * rows[0].conf_level:g} % are, {_intervals(survey, rows, cited)}.",
        *_of_totals(population, fieldwork.reports),
        f"Reports were collected and estimates made with deniable {release}. Its formulas are "
        f"numbered in docs/methods.md {cited.cite(SOFTWARE.format(version=release))}.",
    ]
    return f"{' '.join(sentences)} References: {cited.listed()}"


def _of_totals(population: int | None, reports: int) -> list[str]:
    """Return sentences on the method of totals."""
    if population is None:
        return []
    sums = "Sums of numbers are over those who answered."
    if population == reports:
        return [
            "Totals are of the respondents themselves: their errors come from the randomization "
            f"alone, and intervals of counts invert exact tests of it. {sums}"
        ]
    return [
        f"Totals are of {population:,} people, of whom the respondents are taken as a simple "
        "random sample. The finite population correction applies to the sampling, not to the "
        f"randomization, and intervals of counts invert exact tests of both. {sums}"
    ]


def _response(survey: Survey, fieldwork: Fieldwork) -> list[str]:
    """Return sentences on the response rate, and on simulated and withheld reports."""
    n, so_far = fieldwork.reports, " so far" * fieldwork.is_open
    if fieldwork.invited and n <= fieldwork.invited:
        rate = 100 * n / fieldwork.invited
        told = [
            f"Of {fieldwork.invited:,} invited people {n:,} sent a report{so_far}, a response rate "
            f"of {rate:.1f} %."
        ]
    else:
        told = [
            f"{n:,} reports came{so_far}. How many people were asked is not known, so there is no "
            "response rate."
        ]
    if fieldwork.in_batches:
        told.append(
            f"Results are released {survey.steps.told}; reports after the last release are "
            "withheld."
        )
    if fieldwork.left_out:
        one = fieldwork.left_out == 1
        told.append(
            f"{fieldwork.left_out} other version{'s' * (not one)} of the survey, with too few "
            f"reports, {'is' if one else 'are'} withheld."
        )
    if survey.is_pilot:
        told.append("It was a pilot, whose respondents made their answers up.")
    return [*told, *filter(None, [simulated_of(fieldwork)])]


def _mechanisms(survey: Survey, cited: Cited) -> str:
    """Return the mechanisms with their parameters, each once for all questions that share it."""
    alike: dict[str, list[str]] = {}
    for question in survey.questions:
        mechanism, randomizer = question.mechanism, question.randomizer
        numbers = [f"{mechanism.name}; ε = {rounded_up(randomizer.epsilon, 4)}"]
        numbers.append(_parameters(question))
        told = f"by {mechanism.called} ({', '.join(numbers)}) {cited.cite(*mechanism.cites)}"
        alike.setdefault(told, []).append(question.id)
    told = "; ".join(f"{_listed(ids)} {how}" for how, ids in alike.items())
    has_p = any(", p = " in how for how in alike)
    return (
        told
        + (
            "; p is the probability that a report supports a value if it is true, and q if "
            "another is"
        )
        * has_p
    )


def _parameters(question: Question) -> str:
    """Return the numbers that describe a question's channel."""
    randomizer, domain = question.randomizer, question.domain
    if domain.estimand is Estimand.MEAN:
        chances = randomizer.channel.chances()
        steps = randomizer.encoder.steps
        width = float((domain.high - domain.low) / steps)
        how = "on" if steps == domain.steps else "rounded at random to"
        return (
            f"numbers {how} {steps + 1} equally spaced points, {width:.4g} apart, "
            f"{chances.shape[1]} reports, with probabilities from {chances.min():.3g} to "
            f"{chances.max():.3g}"
        )
    if domain.estimand is Estimand.TEXTS:
        shares = [text_share(randomizer)]
    else:
        shares = [*question.mechanism.shares(randomizer, domain).values]
    if not shares:
        channel = randomizer.channel
        cohorts = randomizer.encoder.cohorts
        of_cohorts = f" in each of {cohorts:,} cohorts" if cohorts else ""
        return f"{channel.symbols} reports on {channel.inputs} values{of_cohorts}"
    p, q = shares[0].chances
    alike = all(share.chances == (p, q) for share in shares if share.term != NO_ANSWER)
    of_one = "" if alike else f" of {shares[0].term}"
    return f"p = {p:.4g}, q = {q:.4g}{of_one}"


def _spent(survey: Survey, wave: int, cited: Cited) -> list[str]:
    """Return sentences on what a respondent spends in a wave, in all, and over waves."""
    told = [
        f"A respondent spends ε = {rounded_up(survey.charge / MICRO, 4)} in a wave, and at most "
        f"{in_epsilon(survey.cap):f} on the survey."
    ]
    for draw in survey.joint:
        some = (
            f", of which each respondent was asked {draw.asks}, drawn at random,"
            if draw.randomizer.asks_some
            else ""
        )
        told.append(
            f"The answers to {', '.join(question.id for question in draw.questions)}{some} went "
            f"into one draw of ε = {rounded_up(draw.randomizer.charge / MICRO, 4)} together. "
            "The ε above limits what somebody who knows the other answers learns about one. "
            "Products of their debiased reports are biased."
        )
    forever: dict[str, list[str]] = {}
    for question in survey.questions:
        if "epsilon_forever" in question.spec:
            forever.setdefault(f"{question.spec['epsilon_forever']:g}", []).append(question.id)
    if forever:
        kept = _listed([f"{_listed(ids)} (ε_forever = {most})" for most, ids in forever.items()])
        told.append(
            f"Devices keep a randomized copy of the answers to {kept} for all waves, and randomize "
            f"that copy once more in each {cited.cite('erlingsson2014')}. All reports together "
            "reveal at most ε_forever about an answer that stays the same. The p, q and ε above "
            "are those of one report, after both stages."
        )
    if wave > 1:
        constant, most = (spent_on([(survey, wave)], stable) / MICRO for stable in (True, False))
        if_constant = f" (ε = {rounded_up(constant, 4)} if no answer changed)" * bool(forever)
        told.append(
            f"{wave} waves together cost a respondent at most ε = {rounded_up(most, 4)}"
            f"{if_constant}."
        )
    return told


def _not_given(survey: Survey, rows: Sequence[Estimate]) -> list[str]:
    """Return sentences on how often people gave no answer, which is randomized, too."""
    shares = [
        (row.estimate, _share_without_answer(row.estimate, row.std_error, row.question))
        for row in rows
        if row.term == NO_ANSWER and row.estimate is not None
    ]
    if not any(question.domain.no_answer for question in survey.questions):
        return ["All questions had to be answered."]
    told = ["Skipped and hidden questions are a value of their own, randomized like any other."]
    if len(shares) > _LISTED:
        told.append(
            "The estimated shares of people who gave no answer, or were not asked, are from "
            f"{min(shares)[1]} to {max(shares)[1]}."
        )
    elif shares:
        told.append(
            "The estimated shares of people who gave no answer, or were not asked, are "
            f"{_listed([text for _, text in shares])}."
        )
    return told


def _share_without_answer(estimate: float, std_error: float | None, question: str) -> str:
    """Return a share of no answer in words. A share below 0 stands for nobody."""
    error = "" if std_error is None else f"standard error {100 * std_error:.1f} %"
    if estimate < 0:
        minus = f"estimate \u2212{-100 * estimate:.1f} %"
        return f"none of {question} ({', '.join(filter(None, [minus, error]))})"
    return f"{100 * estimate:.1f} % of {question}{f' ({error})' * bool(error)}"


def _intervals(survey: Survey, rows: Sequence[Estimate], cited: Cited) -> str:
    """Return words for the intervals of the estimates."""
    items = {
        (question.id, item)
        for question in survey.questions
        if question.domain.estimand is not Estimand.MEAN
        for item in question.domain.mean_terms
    }
    texts = {one.id for one in survey.questions if one.domain.estimand is Estimand.TEXTS}
    terms: dict[str, list[str]] = {}
    for row in rows:
        names = [name for name in _INTERVALS if row.conf_method.startswith(name)]
        term = row.term if row.term in ("mean", *LABELS) else "shares"
        if term == "shares" and row.question in texts:
            term = "shares of texts"
        if term == "shares" and (row.question, row.term) in items:
            term = "mean ranks"
        if names and term not in terms.setdefault(names[0], []):
            terms[names[0]].append(term)
    side = 50 * (1 - rows[0].conf_level)
    return "; ".join(
        f"for {_listed(named)}, {_INTERVALS[name][0].format(side=side)}"
        + (f" {cited.cite(*_INTERVALS[name][1])}" if _INTERVALS[name][1] else "")
        for name, named in terms.items()
    )


def _listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
