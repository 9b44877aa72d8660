"""Measure one edit of a draft of 100 questions, in CPU time, beside its limit.

An edit is the form that is sent and the page that follows; the preview is a request of its own. The
limit is 200 ms: nobody notices such a delay after leaving a field.
"""

import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server.app import create_app
from server.store import Store

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
LIMIT = 0.2
#: These are repeated 25 times: every usual kind, and a condition.
QUESTIONS = """
[[questions]]
id = "harassed{0}"
kind = "yes-no"
text = "Were you harassed at work?"
epsilon = 1.0

[[questions]]
id = "told{0}"
kind = "choice"
text = "Whom did you tell first?"
options = [{{id = "nobody", text = "Nobody"}}, {{id = "superior", text = "A superior"}}]
shows_if = "harassed{0} = 'yes'"
epsilon = 1.0

[[questions]]
id = "often{0}"
kind = "scale"
text = "How often?"
points = ["never", "seldom", "often", "always"]
epsilon = 1.0

[[questions]]
id = "income{0}"
kind = "number"
text = "Income per month?"
min = 0
max = 10000
step = 10
epsilon = 2.0
"""


def took(action: Callable[[], object]) -> float:
    """Return the CPU seconds of an action."""
    began = time.process_time()
    action()
    return time.process_time() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "draft.db", create=True)
        store.access.add_token("token")
        toml = 'title = "Hundred"\nid = "hundred"\n' + "".join(
            map(QUESTIONS.format, range(4 if SMALLEST else 25))
        )
        store.drafts.begin("hundred", toml, "somebody", "began it")
        browser = create_app({"DATABASE": store.database.place}).test_client()
        options: dict[str, Any] = {
            "headers": {"Authorization": "Bearer token"},
            "base_url": "https://localhost",
        }
        part, address = "question/often3", "/surveys/hundred/edit"

        def page() -> str:
            return str(browser.get(f"{address}?part={part}", **options).text)

        print(f"the first page: {1000 * took(page):.0f} ms")
        edits, previews = [], []
        for number in range(5):
            found = re.search(r'id="form".*?name="seen" value="(\w+)"', page(), re.S)
            assert found is not None
            form = {"part": part, "seen": found[1], "do": "save", "kind": "scale", "id": "often3"}
            form |= {"text": f"How often, number {number}?", "points": "never\noften\nalways"}
            form |= {"epsilon": "1"}

            def edit(form: dict[str, str] = form) -> None:
                answer = browser.post(address, data=form, **options)
                assert answer.status_code == 303, answer.text
                page()

            edits.append(took(edit))
            previews.append(took(lambda: browser.get("/surveys/hundred/preview", **options)))
        for what, times in {"an edit": edits, "the preview": previews}.items():
            middle = sorted(times)[2]
            print(f"{what}: {1000 * middle:.0f} ms, {middle / LIMIT:.2f} of the limit")
        store.close()


if __name__ == "__main__":
    main()
