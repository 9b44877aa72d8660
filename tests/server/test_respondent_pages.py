"""The pages for respondents, how they are sent, and that their program can be compared."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.audit.database import audit_modules
from server.cli import main
from server.page_texts import LANGUAGES
from server.pages.browser_files import CLIENT, client_files, hash_of_all, modules_of
from server.pages.rendering import OPTIONAL, PROGRAMS, Pages, optional_of
from server.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"
GZIP = {"Accept-Encoding": "br, gzip"}
Publish = Callable[[str, str], str]


@pytest.fixture
def publish(store: Store, tmp_path: Path, client: FlaskClient) -> Publish:
    """Publish a survey of one question; return its page."""

    def page(top: str, question: str) -> str:
        path = tmp_path / "other.toml"
        path.write_text(
            f'id = "other"\ntitle = "T"\n{top}\n[[questions]]\nid = "q"\ntext = "?"\n{question}\n'
        )
        other = read_survey(path)
        store.surveys.publish(other)
        store.surveys.open_wave(other.id)
        response = client.get("/s/other")
        assert response.status_code == 200
        return response.get_data(as_text=True)

    return page


YES_NO = 'kind = "yes-no"\nepsilon = 1'


@pytest.mark.parametrize(
    ("top", "question", "said"),
    [
        ("", YES_NO, "proves nothing about anyone"),
        ("", YES_NO.replace("1", "5"), "is up to 149 times as likely"),
        ("", YES_NO, "Your true answers, your name, address, device, language, or the time."),
        ("", YES_NO, "ε = 1 of privacy each time you answer it. Its questions add up to that: 1."),
        ('access = "invited"', YES_NO, "It can be used once. Whoever sent"),
        ('access = "panel"', YES_NO, "It can be used once in each round of the survey."),
        ("", YES_NO + "\nepsilon_forever = 2", "This device starts from the same swap each time"),
        ("", YES_NO + "\nepsilon_forever = 2", "2 rounds together tell at most ε = "),
        ("[page]\ncomprehension = true", YES_NO, "The database says “Yes” for somebody."),
        ("", YES_NO, "You must trust whoever delivers this page."),
    ],
)
def test_the_explanation_says_what_holds_for_this_survey(
    publish: Publish, top: str, question: str, said: str
) -> None:
    page = publish(f"{top}\n[privacy]\ncap = 50", question)
    assert said in page
    circumstances = {
        "protected only weakly": "5" in question,
        "proves nothing about anyone": "5" not in question,
        "Whether your link was used": "access" in top,
        "starts from the same swap": "forever" in question,
        'id="quiz"': "comprehension" in top,
    }
    assert {text: text in page for text in circumstances} == circumstances


def test_who_sees_what_comes_after_what_it_means_and_before_the_limits(publish: Publish) -> None:
    page = publish("[page]\ncomprehension = true", YES_NO)
    order = [
        "Only you see your true answers.",
        "Your employer or a court gets no more.",
        "Of 100 people",
        "No answer is counted as anybody",
        'data-turn="next">Begin',
        "proves nothing about anyone",
        "Who sees results",
        "What is stored",
        "What is not stored",
        "What this cannot do",
        "Privacy used, in numbers",
        'id="quiz"',
        "data-question",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "ε" not in page[: page.index("Privacy used, in numbers")]


def test_each_question_has_its_two_pictures_with_its_counts(publish: Publish) -> None:
    page = publish("", YES_NO + "\nrequired = true")
    assert "Of 100 people whose true answer is “Yes”, about 73 send “Yes”." in page
    assert "Of 100 whose true answer is “No”, about 27 send “Yes”, too." in page
    assert len(re.findall(r'fill="url\(#did\)"', page)) == 2
    assert page.count('id="did"') == 1


def test_every_language_is_in_the_page_and_the_first_is_shown(publish: Publish) -> None:
    page = publish(f"languages = {list(LANGUAGES)}", YES_NO)
    for tag, language in LANGUAGES.items():
        hidden = "" if tag == "en" else " hidden"
        yes = f'dir="{language.direction}"{hidden}>{language.words["question.yes"]}</span>'
        assert f'<span data-language="{tag}" lang="{tag}" {yes}' in page
    assert page.startswith('<!doctype html>\n<html lang="en" dir="ltr" translate="no">')


@pytest.mark.parametrize("tag", ["de", "ar"])
def test_a_page_in_one_language_has_no_hidden_ones(publish: Publish, tag: str) -> None:
    page = publish(f'languages = ["{tag}"]', YES_NO)
    assert f'<html lang="{tag}" dir="{LANGUAGES[tag].direction}" translate="no">' in page
    assert "data-language" not in page


def test_the_need_for_a_program_is_stated_in_all_languages_at_once(
    client: FlaskClient, publish: Publish
) -> None:
    survey = publish('languages = ["en", "de", "de-CH", "tlh", "ar"]', YES_NO)
    pages = {"page": (survey, ["en", "de", "ar"]), "me": (_text(client, "/me"), LANGUAGES)}
    for table, (page, tags) in pages.items():
        (said,) = re.findall(r"<noscript>(.*?)</noscript>", page, re.S)
        assert re.findall(r'<p class="panel" lang="(\S+)" dir="(\S+)">(.*)</p>', said) == [
            (tag, LANGUAGES[tag].direction, LANGUAGES[tag].words[f"{table}.no-script"])
            for tag in tags
        ]
        assert "hidden" not in said


@pytest.mark.parametrize("flag", ["", "kiosk", "comprehension"])
def test_sent_reports_are_offered_only_if_nobody_else_can_open_them(
    publish: Publish, flag: str
) -> None:
    page = publish(f"[page]\n{flag} = true" if flag else "", YES_NO)
    assert ('id="sent"' in page) == (flag != "kiosk")
    assert page.count("data-kiosk=") == (4 if flag == "kiosk" else 0)


@pytest.mark.parametrize("flag", ["exit", "kiosk"])
def test_only_a_page_that_no_next_person_needs_may_be_closed(publish: Publish, flag: str) -> None:
    value = {"exit": '"about:blank"', "kiosk": "true"}[flag]
    page = publish(f"[page]\n{flag} = {value}", YES_NO)
    assert "have arrived and are stored." in page
    assert ("You can close this page." in page) == (flag != "kiosk")


@pytest.mark.parametrize(("low", "keys"), [(0, True), (-40, False)])
def test_numbers_are_typed_as_text_and_below_zero_with_all_keys(
    publish: Publish, low: int, keys: bool
) -> None:
    page = publish("", f'kind = "number"\nmin = {low}\nmax = 40\nepsilon = 1')
    (field,) = re.findall(r'<input [^>]*id="q--number"[^>]*>', page)
    assert 'type="text"' in field
    assert 'spellcheck="false" writingsuggestions="false"' in field
    assert ('inputmode="decimal"' in field) == keys


@pytest.mark.parametrize(
    ("path", "status", "key"),
    [
        ("/", 200, "home"),
        ("/s/none", 404, "no-survey"),
        ("/nothing", 404, "not-found"),
        ("/client/none.js", 404, "not-found"),
        ("/static/none.css", 404, "not-found"),
    ],
)
def test_messages_are_shown_in_all_languages(
    client: FlaskClient, path: str, status: int, key: str
) -> None:
    response = client.get(path)
    page = unescape(response.get_data(as_text=True))
    assert response.status_code == status
    for tag, language in LANGUAGES.items():
        assert f'<section class="end closed" lang="{tag}" dir="{language.direction}">' in page
        assert language.words[f"message.{key}"] in page
    assert "hidden" not in page


def test_the_first_page_leads_researchers_to_explore_and_no_other_message_does(
    client: FlaskClient,
) -> None:
    page = unescape(client.get("/").get_data(as_text=True))
    for language in LANGUAGES.values():
        assert f'<a href="/explore">{language.words["message.home-explore"]}</a>' in page
    assert "<a " not in client.get("/nothing").get_data(as_text=True)


def test_a_closed_survey_says_so_in_its_languages(
    client: FlaskClient, store: Store, survey: Survey
) -> None:
    store.surveys.close_waves(survey.id)
    page = client.get(f"/s/{survey.id}").get_data(as_text=True)
    assert LANGUAGES["en"].words["message.closed"] in page
    assert survey.text(survey.spec["title"]) in page
    assert LANGUAGES["de"].words["message.closed"] not in page


def test_a_request_of_another_method_learns_the_allowed_ones(client: FlaskClient) -> None:
    response = client.post("/s/canteen")
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]


@pytest.mark.parametrize("path", ["/s/canteen", "/me", "/client/style.css", "/nothing"])
def test_pages_and_files_are_compressed_on_request(client: FlaskClient, path: str) -> None:
    plain, small = client.get(path), client.get(path, headers=GZIP)
    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data
    assert len(small.data) < len(plain.data)
    for response in (plain, small, client.get(path, headers={"Accept-Encoding": "gzip;q=0"})):
        assert response.headers["Vary"] == "Accept-Encoding"
    assert plain.headers.get("ETag") == small.headers.get("ETag")


def test_a_file_that_the_browser_has_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/client/random.js", headers=GZIP)
    assert first.headers["Cache-Control"] == "no-cache"
    known = {**GZIP, "If-None-Match": first.headers["ETag"]}
    again = client.get("/client/random.js", headers=known)
    assert (again.status_code, again.data) == (304, b"")


def test_a_page_that_was_kept_is_not_that_of_another_wave(
    client: FlaskClient, store: Store, survey: Survey
) -> None:
    pages = [client.get("/s/canteen").data for _ in range(2)]
    store.surveys.open_wave(survey.id, 2)
    assert pages[0] == pages[1]
    assert b'"wave": 1' in pages[0]
    assert b'"wave": 2' in client.get("/s/canteen").data


def test_researchers_have_a_style_of_their_own_and_respondents_do_not_load_it(
    client: FlaskClient,
) -> None:
    link = re.compile(r'href="(/static/research\.css)" integrity="(sha256-[\w+/=]+)"')
    found = link.search(client.get("/login").get_data(as_text=True))
    assert found is not None
    file = client_files(CLIENT.parent / "server/static")["research.css"]
    assert found[2] == file.integrity
    assert client.get(found[1]).data == file.resource.content
    for path in ("/s/canteen", "/me", "/"):
        assert not link.search(client.get(path).get_data(as_text=True))


def _text(client: FlaskClient, path: str) -> str:
    return unescape(client.get(path).get_data(as_text=True))


def _links(response: TestResponse) -> list[tuple[str, str]]:
    text = response.get_data(as_text=True)
    return re.findall(
        r'<link rel="modulepreload" href="/client/([\w/.-]+)" integrity="(\S+)">', text
    )


@pytest.mark.parametrize(("path", "entry"), [("/s/canteen", "survey"), ("/me", "me")])
def test_a_page_pins_all_that_it_imports_and_nothing_else(
    client: FlaskClient, path: str, entry: str
) -> None:
    linked = dict(_links(client.get(path)))
    assert [*linked][-1] == f"page/{entry}.js"
    for name, integrity in linked.items():
        text = (CLIENT / name).read_text()
        assert integrity == client_files(CLIENT)[name].integrity
        for imported in re.findall(r"from '([^']+)'", text):
            whole = (CLIENT / name).parent / imported
            assert whole.resolve().relative_to(CLIENT).as_posix() in linked
    # Browsers without preloads get each module, with its hash, before an import asks for it.
    scripts = re.findall(
        r'<script type="module" src="/client/([\w/.-]+)" integrity="(\S+)">', _text(client, path)
    )
    assert scripts == [*linked.items()]
    seen: set[str] = set()
    for name, _ in scripts:
        for imported in re.findall(r"from '([^']+)'", (CLIENT / name).read_text()):
            whole = (CLIENT / name).parent / imported
            assert whole.resolve().relative_to(CLIENT).as_posix() in seen
        seen.add(name)
    entries = [*OPTIONAL, *(f"page/{page}.js" for page in PROGRAMS)]
    every = {name for name, _ in modules_of(client_files(CLIENT), entries)}
    assert every == {name for name in client_files(CLIENT) if name.endswith(".js")}


def test_a_page_runs_what_its_survey_needs_before_it_starts() -> None:
    pages, needed = Pages(client_files(CLIENT)), {}
    for example in sorted(EXAMPLES.glob("*.toml")):
        survey = read_survey(example)
        needed[example.stem] = optional_of(survey)
        data = survey.to_json() | {"version": survey.version, "wave": 1, "state": "open"}
        page = pages.survey(survey, data).content.decode()
        started = re.findall(r'<script type="module" src="/client/([^"]+)"', page)
        entries = {*OPTIONAL, "page/survey.js"}
        assert [name for name in started if name in entries] == [
            *needed[example.stem],
            "page/survey.js",
        ]
    assert needed["working-conditions"] == ["optional/numbers.js"]
    assert needed["staff-panel"] == [f"optional/{name}.js" for name in ("memory", "texts", "links")]
    assert needed["one-draw"] == ["optional/together.js", "optional/numbers.js"]
    assert needed["well-being"] == [
        f"optional/{name}.js" for name in ("several", "numbers", "orders", "texts", "varied")
    ]
    assert set().union(*needed.values()) <= {*OPTIONAL}


@pytest.mark.parametrize("path", ["/s/canteen", "/me"])
def test_an_import_map_pins_every_fetch_of_a_module_and_nothing_else_runs_inline(
    client: FlaskClient, path: str
) -> None:
    response = client.get(path)
    page = response.get_data(as_text=True)
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    (_, written), *others = [one for one in scripts if "application/json" not in one[0]]
    # It comes before everything that could load a module.
    assert page.index('<script type="importmap">') < page.index("modulepreload")
    pinned = {f"/client/{name}": integrity for name, integrity in _links(response)}
    assert json.loads(written) == {"integrity": pinned}
    assert written == json.dumps(json.loads(written), separators=(",", ":"), sort_keys=True)
    digest = base64.b64encode(hashlib.sha256(written.encode()).digest()).decode()
    rules = response.headers["Content-Security-Policy"].split("; ")
    assert f"script-src 'self' 'sha256-{digest}'" in rules
    assert "require-trusted-types-for 'script'" in rules
    assert "trusted-types 'none'" in rules
    assert "nonce" not in page + response.headers["Content-Security-Policy"]
    assert f"/client/page/{'me' if path == '/me' else 'survey'}.js" in others[-1][0]
    for attributes, text in others:
        assert 'type="module"' in attributes
        assert "integrity=" in attributes
        assert not text


@pytest.mark.parametrize("path", ["/", "/nothing", "/login", "/api/surveys/canteen"])
def test_what_runs_no_program_allows_no_inline_script(client: FlaskClient, path: str) -> None:
    assert "sha256" not in client.get(path).headers["Content-Security-Policy"]


def test_a_missing_module_ends_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "client"
    (folder / "page").mkdir(parents=True)
    (folder / "page/survey.js").write_text("import { one } from './gone.js';\n")
    with pytest.raises(ValueError, match=r"expected page/gone\.js among the files of client/"):
        create_app({"DATABASE": tmp_path / "x.db", "CLIENT": folder})


def test_the_hashes_of_page_audit_and_repository_are_the_same(
    client: FlaskClient, store: Store, database: Path
) -> None:
    files = client_files(CLIENT)
    whole = hash_of_all(files)
    for path in ("/s/canteen", "/me"):
        page = client.get(path).get_data(as_text=True)
        details = page[page.index('<details id="program">') :]
        assert f">{whole}</code>" in details
        listed = re.findall(r'<th scope="row">(\S+)</th><td><code>(\S+)</code>', details)
        style = ("style.css", files["style.css"].integrity)
        assert listed == [*_links(client.get(path)), style]
    audited = {one.subject: one.finding for one in audit_modules()}
    assert audited == {name: file.integrity for name, file in files.items()} | {"all files": whole}
    assert whole in CliRunner().invoke(main, ["audit", "--db", str(database)]).stdout


def test_one_changed_letter_changes_the_hash_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1;\n")
    before = hash_of_all(client_files(tmp_path))
    (tmp_path / "a.js").write_text("2;\n")
    assert hash_of_all(client_files(tmp_path)) != before


def test_pages_link_nothing_of_other_hosts(client: FlaskClient) -> None:
    for path in ("/s/canteen", "/me", "/login", "/nothing"):
        page = client.get(path).get_data(as_text=True)
        assert not re.findall(r'(?:href|src|action)="(?!/|data:,)[^"]*"', page)
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script>", page)
