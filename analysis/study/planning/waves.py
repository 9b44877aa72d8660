"""What an author should know of waves, and may not expect of a question."""

from analysis.core.epsilon import MICRO, is_telling, micro
from analysis.mechanisms.hashed_krr import LONGEST_FOUND
from analysis.survey.question import Question


def costs_of_waves(question: Question, most: int = 6) -> str:
    """What 1, 2, 3, ... waves cost with the question's memory, and with fresh draws instead."""
    waves = range(1, most + 1)
    randomizer = question.randomizer
    worst, constant, fresh = (
        [cost / MICRO for cost in costs]
        for costs in (
            [question.spent(n) for n in waves],
            [question.spent(n, stable=True) for n in waves],
            [n * randomizer.charge for n in waves],
        )
    )
    told, same = (", ".join(f"{one:.3g}" for one in costs) for costs in (worst, constant))
    text = f"1 to {most} waves cost ε = {told} together"
    if question.stable:
        text += ", as its answer cannot change"
    else:
        text += f", {same} if the answer never changes"
    dear = [n for n, one, other in zip(waves, worst, fresh, strict=True) if one > other]
    if dear:
        text += f"; fresh draws would cost less for {', '.join(map(str, dear))} waves"
    return text


def warnings(question: Question) -> list[str]:
    """What an author may not expect of a question with a memory, or of texts to be found."""
    found, domain, randomizer = [], question.domain, question.randomizer
    if question.stable and (domain.no_answer or "shows_if" in question.spec):
        found.append(
            "is charged as stable, but who skips it once, or is not asked, tells more than that; "
            "required = true without shows_if keeps it stable"
        )
    if question.memo and is_telling(micro(randomizer.forever)):
        found.append(
            f"over many waves reports nearly tell an answer at epsilon_forever = "
            f"{question.spec['epsilon_forever']:g}; the page will say so to respondents"
        )
    if domain.is_open and question.spec["longest"] > LONGEST_FOUND:
        found.append(
            f"texts of more than {LONGEST_FOUND} letters are not found; they count as other"
        )
    return found
