"""Phones show tables as cards."""

from markupsafe import Markup

from server.pages.cards import as_cards

TABLE = Markup("""<table class="surveys"><caption>All</caption>
<thead><tr><th scope="col">Survey</th><th scope="col" class="number">"Half" <em>of</em>
 1 &amp; 2</th><th scope="col"><span class="hidden-text">What to do</span></th></tr></thead>
<tbody><tr><th scope="row">One</th><td class="number"><a href="/x">± 5</a></td><td>-</td></tr>
<tr><th scope="row">Two</th><td></td><td>-</td></tr></tbody></table>""")


def test_each_cell_knows_the_name_of_its_column_and_nothing_else_changes() -> None:
    told = as_cards(TABLE)
    label = 'data-label="&#34;Half&#34; of 1 &amp; 2"'
    assert f'<td class="number" role="cell" {label}><a href="/x">± 5</a></td>' in told
    assert f'<td role="cell" {label}></td><td role="cell" data-label="">-</td></tr></tbody>' in told
    assert '<th scope="row" role="rowheader">Two</th>' in told
    assert '<th scope="col" class="number" role="columnheader">"Half" <em>of</em>' in told
    for role, times in {"table": 1, "rowgroup": 2, "row": 3, "columnheader": 3, "cell": 4}.items():
        assert told.count(f' role="{role}"') == times
    without = told.replace(f" {label}", "").replace(' data-label=""', "")
    for role in ("table", "rowgroup", "row", "columnheader", "rowheader", "cell"):
        without = without.replace(f' role="{role}"', "")
    assert without == TABLE


def test_cells_of_a_table_without_a_head_have_no_names_of_one_before() -> None:
    told = as_cards(TABLE + Markup("<table><tbody><tr><td>1</td></tr></tbody></table>"))
    assert '<td role="cell">1</td>' in told


def test_texts_around_tables_stay() -> None:
    around = Markup("<p>Before</p>{}<p>Between</p>{}<p>Behind</p>").format(TABLE, TABLE)
    told = as_cards(around)
    assert told.startswith("<p>Before</p><table")
    assert "</table><p>Between</p><table" in told
    assert told.endswith("</table><p>Behind</p>")
    assert as_cards(Markup("<p>No table</p>")) == "<p>No table</p>"
