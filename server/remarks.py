"""What a survey's author should know before publishing: remarks of `check`, in sentences."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

from analysis.core.epsilon import MICRO
from analysis.mechanisms.joint_goals import AIMS
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import Grade, grade_of, rounded_up
from analysis.privacy.one_wave import readable_odds, reassures, warnings_of_totals
from analysis.study.planning import costs_of_waves, warnings
from analysis.study.planning.together import suggestion
from analysis.survey.check import Check
from analysis.survey.document import by_language
from analysis.survey.joint_draw import JointDraw
from analysis.survey.question import Question
from analysis.survey.study_file import missing as unsaid_in
from analysis.survey.survey import PILOT, Survey, asked_in, spent_on
from server.clock import today
from server.editing.conditions import named
from server.editing.spending import MANY, waves_within
from server.explanation import example_of
from server.explanation.first_screen import too_long
from server.page_texts import LANGUAGES, TO_BRING, brought_words, is_spoken
from server.words import lacking, misfits

#: How many of the texts that lack a translation are named.
_SOME = 10


def too_low(survey: Survey) -> str:
    """Say that the cap is below the cost of one wave, and what helps."""
    cost, cap = (f"{in_epsilon(millionths):f}" for millionths in (survey.charge, survey.cap))
    return (
        f"nobody could answer: one wave costs ε = {cost}, more than the cap of {cap}. Devices draw "
        f"no report that exceeds it. State cap = {cost} or more in [privacy]"
    )


def asked_already(survey: Survey, others: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a warning for each other survey that asks the same questions, by their words.

    Parameters
    ----------
    others : iterable
        The frozen texts of the collector's other surveys. Pilots, whose answers are made up, do
        not count.
    """
    alike: dict[str, set[str]] = {}
    for other in others:
        words = set[str]().union(*map(_wording, asked_in(other)))
        alike.setdefault(other["id"], set()).update(
            question.id
            for question in survey.questions
            if not survey.is_pilot and PILOT not in other and _wording(question.spec) & words
        )
    for other_id, ids in alike.items():
        if not ids:
            continue
        names = ", ".join(question.id for question in survey.questions if question.id in ids)
        yield (
            f"{survey.id}: survey {other_id} of this collector asks already: {names}. A cap, a "
            "memory and its permanent draws belong to one survey's id, so whoever answers both "
            "surveys spends the ε of both, and permanent draws begin anew. To ask the same people "
            f"again, publish it under the id {other_id}; device_cap in [privacy] limits what a "
            "device spends on all surveys together"
        )


def _wording(spec: dict[str, Any]) -> set[str]:
    """Return a question's text in each language after its matrix's: letters and digits alone."""
    matrix = by_language(spec.get("matrix", ""))
    texts = [matrix.get(tag, "") + text for tag, text in by_language(spec["text"]).items()]
    return {"".join(filter(str.isalnum, text.casefold())) for text in texts} - {""}


def remarks(
    survey: Survey, checks: Iterable[Check], name: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield what `check` says of a survey beside its table, sentence by sentence.

    Lists of questions have the `name` of each, by its id.
    """
    waves = waves_within(survey, survey.cap)
    many = f"{MANY} and more" if waves >= MANY else str(waves)
    yield (
        f"{survey.id}: version {survey.version[:12]}; one wave costs a respondent "
        f"ε = {in_epsilon(survey.charge):f}; the cap of {in_epsilon(survey.cap):f} is enough for "
        f"{many} wave{'' if waves == 1 else 's'} in all"
    )
    unsaid = unsaid_in(survey.spec)
    if unsaid:
        yield (f"the page does not say {', '.join(unsaid)}; ethics boards ask for this")
    if survey.memos:
        yield (
            "if waves are more than 7 days apart, Safari deletes what a page has stored unless it "
            "granted the page lasting storage. A respondent with Safari then counts as somebody "
            "new, and starts from fresh draws; the page says so"
        )
    for draw in survey.joint:
        names = ", ".join(name(question.id) for question in draw.questions)
        asks = f", of which each person is asked {draw.asks}," if draw.randomizer.asks_some else ""
        yield (
            f'together "{draw.id}": {names}{asks} go into one draw of '
            f"ε = {draw.spec['epsilon']:g}; about one answer, somebody who knows the others learns "
            f"at most ε = {draw.spec['epsilon_each']:g} (up to {draw.spec['epsilon']:g} if answers "
            "go together, as with separate draws); separate draws of the same total"
            + (f" for {draw.asks} questions" if asks else "")
            + f" would need {draw.savings[0]:.3g} times the respondents for shares, and "
            f"{draw.savings[1]:.3g} times for pairs of answers"
        )
        if asks:
            yield (f'together "{draw.id}": {_asked(draw, name)}')
        proved = draw.randomizer.charge / MICRO
        if proved < 0.99 * draw.spec["epsilon"]:
            yield (
                f'together "{draw.id}": within its epsilon_each the draw spends only ε = '
                f"{rounded_up(proved, 4)} of {draw.spec['epsilon']:g}, so a lower epsilon is as "
                "good"
            )
        aim = draw.spec.get("aim", AIMS[0])
        if min(draw.savings) < 0.95:
            worse = "shares" if draw.savings[0] < draw.savings[1] else "pairs of answers"
            yield (
                f'together "{draw.id}": with aim = "{aim}" one draw is worse for {worse} than '
                "separate draws; another aim, or a larger epsilon_each, can mend that"
            )
    told = suggestion(survey)
    if told:
        # The sentence begins with the ids of questions.
        ids, one_by_one, rest = told.partition(" are drawn one by one")
        yield (f"{', '.join(map(name, ids.split(', ')))}{one_by_one}{rest}")
    for question in survey.questions:
        if question.charged_as_stated:
            yield f'question "{question.id}": {_stated(question)}'
    if survey.charge > survey.cap:
        yield too_low(survey)
    elif survey.memos and spent_on([(survey, 2)]) > survey.cap:
        yield ("nobody could answer a second wave: raise the cap in [privacy]")
    for tag in survey.spec.get("languages", ()):
        yield from _words(survey, tag)
    if survey.is_over(today()):
        day = min(day for day in (survey.closes, survey.delete_reports_after) if day)
        yield (f"the last day of the survey, {day}, has passed; nobody could answer it")
    for row in checks:
        if row.remark:
            yield (f'question "{row.question}": {row.remark}')
        if row.saving < 0.9:
            better, _, _ = row.runner_up.partition(":")
            yield (
                f'question "{row.question}": {better} would need only {row.saving:.2g} times the '
                f"respondents that {row.mechanism} does"
            )
    for question in survey.questions:
        if question.memo:
            yield (f'question "{question.id}": {costs_of_waves(question)}')
        for warning in warnings(question):
            yield (f'question "{question.id}": {warning}')
        grade = grade_of(question.randomizer.ratio)
        if grade > Grade.HINT:
            yield (
                f'question "{question.id}": at ε = {rounded_up(question.randomizer.epsilon, 4)} a '
                f"report {'nearly reveals' if grade is Grade.NEARLY else 'points to'} the answer, "
                f"at odds of up to {readable_odds(question.randomizer.ratio)}; the page will say "
                "so to respondents"
            )
    for warning in warnings_of_totals(survey):
        yield (f"{survey.id}: {warning}")
    chosen = example_of(survey)
    strongest = max(survey.questions, key=lambda question: question.randomizer.ratio)
    if strongest.randomizer.epsilon > 1.01 * chosen.randomizer.epsilon:
        yield (
            f'[page] example: the first screen shows the numbers of "{chosen.id}", although '
            f'reports on "{strongest.id}" reveal more'
        )
    yield from too_long(survey)
    if "comprehension" in survey.spec.get("page", ()) and not reassures(survey):
        yield (
            "the page does not ask whether its promise was understood, although [page] says "
            "comprehension = true: what is sent about a single answer can be more than a hint, so "
            'that "It can be either" would be no right reply'
        )


def _words(survey: Survey, tag: str) -> Iterator[str]:
    """Yield which of the page's words a language lacks, and which of those it has are not used."""
    brought = brought_words(survey.spec, tag)
    if is_spoken(tag):
        if tag in survey.spec.get("words", {}):
            yield f'language "{tag}": its words are left out, since the page has its own'
        return
    if not brought:
        yield (
            f'language "{tag}": the page\'s own words exist in {", ".join(LANGUAGES)}; '
            f"in this language they are English. deniable check --words {tag} prints what to "
            "translate"
        )
        return
    wrong = misfits(brought, LANGUAGES["en"].texts)
    for key, why in wrong.items():
        yield f'language "{tag}": {key} is shown in English: {why}'
    missing = [key for key in lacking(brought, TO_BRING) if key not in wrong]
    if missing:
        some = ", ".join(missing[:_SOME])
        more = f" and {len(missing) - _SOME} more" * (len(missing) > _SOME)
        yield f'language "{tag}": not translated, and shown in English: {some}{more}'


def _stated(question: Question) -> str:
    """Return why the prices of format 1 are below what its reports reveal."""
    if question.randomizer.limit is not None:
        return (
            "its noise is clamped, so no δ is needed, and a report reveals up to ε = "
            f"{in_epsilon(question.randomizer.charge):f}, not {question.spec['epsilon']:g}; with "
            "format = 2, epsilon limits what a report reveals"
        )
    return (
        "its answer is stable, but a respondent who skips it once has another answer. So its waves "
        "cost as much as those of an answer that changes; format = 2 needs required = true"
    )


def on_page(survey: Survey, checks: Iterable[Check]) -> list[str]:
    """Return all remarks but the first, as whole sentences that name questions by wording."""
    texts = {
        one.id: f"“{named(*(survey.text(one.spec.get(key, '')) for key in ('text', 'matrix')))}”"
        for one in survey.questions
    }
    draws = {draw.id: f"One draw for {len(draw.questions)} questions" for draw in survey.joint}
    found = []
    for remark in list(remarks(survey, checks, lambda name: texts.get(name, name)))[1:]:
        text = remark.removeprefix(f"{survey.id}: ").replace(
            "see [[together]], and `deniable plan --table together`", "see the page Plan"
        )
        for what, names in (("question", texts), ("together", draws)):
            place = re.match(rf'{what} "([^"]*)": ', text)
            if place:
                rest = text[place.end() :]
                names_all = rest.startswith("“")
                text = rest if names_all else f"{names.get(place[1], place[1])} – {rest}"
        # Other words stand in quotation marks, too: languages and aims.
        text = re.sub(
            r'(?<!language )(?<!aim = )"([^"]*)"', lambda name: texts.get(name[1], name[0]), text
        )
        found.append(f"{text[:1].upper()}{text[1:].rstrip('.')}.")
    return found


def _asked(draw: JointDraw, name: Callable[[str], str]) -> str:
    """Return how many people are asked which questions, if each is asked only some of a table."""
    portions = zip(draw.questions, draw.randomizer.portions, strict=True)
    told = ", ".join(f"{name(question.id)} {1000 * float(part):.0f}" for question, part in portions)
    pairs = Counter(pair for sample in draw.samples for pair in combinations(sample, 2))
    asked = [pairs[pair] for pair in combinations(range(len(draw.questions)), 2)]
    fewest, most = (1000 * number / len(draw.samples) for number in (min(asked), max(asked)))
    text = (
        f"of 1,000 people, this many are asked each question: {told}; {fewest:.0f} to {most:.0f} "
        f"are asked any two. No table or model can have more than {draw.asks} of these questions"
    )
    times = draw.times_if_all_asked
    if times is None:
        return text
    return (
        f"{text}. To ask everybody all {len(draw.questions)} within the same limits would take "
        f"{times:.2g} times the respondents for shares"
        + (", so ask only makes the form shorter" if times < 1 else "")
    )
