"""A survey with every kind of question and page, and a person who answers it unmistakably."""

from device import expect_state
from playwright.sync_api import Page, expect

#: Everything that a person can be asked.
EVERYTHING = """
title = "Everything"
id = "everything"
[privacy]
cap = 60
[[questions]]
id = "welcome"
kind = "note"
text = "There are no wrong answers."
section = "About you"
[[questions]]
id = "visited"
kind = "yes-no"
text = "Were you there?"
help = "In the last year."
epsilon = 1
[[questions]]
id = "regret"
kind = "number"
text = "Why not, as a number?"
min = 0
max = 100000000
shows_if = "visited = 'no'"
epsilon = 1
[[questions]]
id = "animal"
kind = "choice"
text = "Which animal?"
options = [
  {id = "okapi-quxil", text = "Okapi Quxil"},
  {id = "zebra-canary", text = "Zebra with a Canary"},
  {id = "tapir-zopil", text = "Tapir Zopil"},
]
required = true
epsilon = 1
[[questions]]
id = "foods"
kind = "choices"
text = "Which foods?"
options = [
  {id = "grubmix", text = "Grubmix Stew"},
  {id = "plimsa", text = "Plimsa Bread"},
  {id = "vorkel", text = "Vorkel Soup"},
]
at_most = 2
random_order = true
epsilon = 1
[[questions]]
id = "calm"
kind = "scale"
text = "calm"
matrix = "How often did you feel …"
points = ["nevxil", "somxil", "ofxil"]
new_page = true
section = "Your days"
epsilon = 1
[[questions]]
id = "alert"
kind = "scale"
text = "alert"
matrix = "How often did you feel …"
points = ["nevxil", "somxil", "ofxil"]
epsilon = 1
[[questions]]
id = "mood"
kind = "scale"
text = "How are you now?"
points = ["lowjan", "midjan", "topjan"]
epsilon = 1
[[questions]]
id = "debts"
kind = "number"
text = "How much do you owe?"
min = 0
max = 100000000
unit = "EUR"
epsilon = 1
[[questions]]
id = "weight"
kind = "number"
slider = true
text = "How heavy is it?"
min = 40417600
max = 40417700
step = 1
unit = "grains"
epsilon = 1
[[questions]]
id = "town"
kind = "text"
text = "Which town?"
candidates = ["quxolotl 5573", "brindlova 6684", "harnopol 2291"]
new_page = true
section = "In your own words"
epsilon = 1
[[questions]]
id = "word"
kind = "text"
text = "Your password at school?"
longest = 20
epsilon = 1
[[questions]]
id = "order"
kind = "rank"
text = "Your order of these?"
items = [
  {id = "flumdor", text = "Flumdor"}, {id = "grebnix", text = "Grebnix"},
  {id = "hozzle", text = "Hozzle"},
]
epsilon = 1
[[questions]]
id = "herb"
kind = "choice"
text = "Which herb, after the word {answer.word|that you kept}?"
new_page = true
section = "Once more"
options = [
HERBS  {id = "another", text = "Another"},
]
random_order = true
epsilon = 1
[[questions]]
id = "which"
kind = "text"
text = "Namely"
namely = "another"
longest = 20
epsilon = 1
[[questions]]
id = "again"
kind = "yes-no"
text = "Would you owe {answer.debts|nothing} again, for {answer.foods|naught}, {answer.animal}?"
help = "You said {answer.which|nothing of herbs}."
epsilon = 1
""".replace("HERBS", "".join(f'  {{id = "herb-{n}", text = "Herb {n}"}},\n' for n in range(1, 21)))
#: The cost of one wave of it, in ε.
COST = "15"
#: Its questions, without the note.
ASKED = ["visited", "regret", "animal", "foods", "calm", "alert", "mood", "debts", "weight"]
ASKED += ["town", "word", "order", "herb", "which", "again"]
#: The answer that is hidden again, and the final answers to the other questions.
REGRET = "58291370"
ANSWERS = {
    "visited": "yes",
    "animal": "zebra-canary",
    "foods": "plimsa|vorkel",
    "calm": "ofxil",
    "alert": "nevxil",
    "mood": "midjan",
    "debts": "73914682",
    "weight": "40417617",
    "town": "quxolotl 5573",
    "word": "vexmarl 8841",
    "order": "hozzle|flumdor|grebnix",
    "herb": "another",
    "which": "ilvarnox 9917",
    "again": "no",
}
#: What is in the form once only the first page is answered, by `answer_first_page`.
FIRST = {"visited": "yes", "regret": REGRET} | {one: ANSWERS[one] for one in ("animal", "foods")}
#: A text that is searched in the long list in vain.
SEARCHED = "qorvanth 7730"
#: Texts that occur only in these answers, so they may be found nowhere at all.
MARKERS = [REGRET, "73914682", "73,914,682", "40417617", "vexmarl 8841"]
MARKERS += ["hozzle|flumdor|grebnix", "ilvarnox 9917", SEARCHED]
#: Chosen answers that the survey offers, so they may be found only where the survey is.
CHOSEN = ["zebra-canary", "Zebra with a Canary", "vorkel", "Vorkel Soup", "midjan"]
CHOSEN += ["quxolotl 5573"]


def with_page(*flags: str, survey: str = EVERYTHING) -> str:
    """Return the survey with flags of its page: resume, kiosk, comprehension."""
    lines = "".join(f"{flag} = true\n" for flag in flags)
    return survey.replace("[privacy]", f"[page]\n{lines}[privacy]", 1)


def begin(page: Page) -> None:
    """Go from the explanation to the first question."""
    expect_state(page, "ready")
    page.locator("#begin").click()


def turn(page: Page) -> None:
    """Turn to the next page, or from the last one to the review."""
    page.locator('[data-page]:visible button[type="submit"]').click()


def press_on(page: Page, question: str, *options: str) -> None:
    """Press labels or, for a ranking, buttons."""
    for option in options:
        label = f'label[for="{question}--{option}"], button[id="{question}--{option}"]'
        # In a grid, a label lies beneath its control.
        page.locator(label).click(force=True)


def type_in(page: Page, question: str, text: str) -> None:
    """Type into a question's field with the keyboard."""
    page.locator(f'[data-question="{question}"] .entry input').click()
    page.keyboard.type(text)


def answer_first_page(page: Page) -> None:
    """Answer the first page and change an answer, so that a question is hidden again."""
    press_on(page, "visited", "no")
    type_in(page, "regret", REGRET)
    press_on(page, "visited", "yes")
    expect(page.locator('[data-question="regret"]')).to_be_hidden()
    press_on(page, "animal", "zebra-canary")
    press_on(page, "foods", "vorkel", "plimsa")


def answer_second_page(page: Page) -> None:
    """Answer the grid, a scale, a typed number, and a number by the slider's arrow keys."""
    press_on(page, "calm", "ofxil")
    press_on(page, "alert", "nevxil")
    press_on(page, "mood", "midjan")
    type_in(page, "debts", ANSWERS["debts"])
    page.locator("#weight--slider").focus()
    for key in ["Home", *["ArrowRight"] * 17]:
        page.keyboard.press(key)
    expect(page.locator("#weight--number")).to_have_value(ANSWERS["weight"])


def answer_third_page(page: Page) -> None:
    """Answer with a suggested text, a text of one's own, and an order."""
    type_in(page, "town", ANSWERS["town"])
    type_in(page, "word", ANSWERS["word"])
    press_on(page, "order", "hozzle", "flumdor", "grebnix")


def answer_fourth_page(page: Page) -> None:
    """Answer a long list that is searched, what "another" means, and a text that quotes answers."""
    herb = page.locator('[data-question="herb"]')
    expect(herb.locator("legend")).to_have_text(f"Which herb, after the word {ANSWERS['word']}?")
    type_in(page, "herb", SEARCHED)
    found = herb.locator(".option:not([data-stays]):visible")
    expect(found).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("hÉRB 2")
    expect(found).to_have_count(2)
    press_on(page, "herb", "another")
    type_in(page, "which", ANSWERS["which"])
    again = page.locator('[data-question="again"]')
    for told in ("73,914,682 EUR", "Plimsa Bread", "Zebra with a Canary", ANSWERS["which"]):
        expect(again).to_contain_text(told)
    press_on(page, "again", "no")


def answer_pages(page: Page) -> None:
    """Answer all questions as a person does, and ask for the review."""
    begin(page)
    answer_first_page(page)
    turn(page)
    answer_second_page(page)
    turn(page)
    answer_third_page(page)
    turn(page)
    answer_fourth_page(page)
    turn(page)


def person(page: Page) -> dict[str, str]:
    """Answer all questions as a person does; return what the review shows."""
    answer_pages(page)
    expect(page.locator("#review")).to_be_visible()
    terms, details = page.locator("#review dt"), page.locator("#review dd:not(:has(.link))")
    return dict(zip(terms.all_inner_texts(), details.all_inner_texts(), strict=True))


def hasty_person(page: Page) -> None:
    """Answer the first page alone, and turn all others over, to the review."""
    begin(page)
    answer_first_page(page)
    for _ in range(4):
        turn(page)
    expect(page.locator("#review")).to_be_visible()
