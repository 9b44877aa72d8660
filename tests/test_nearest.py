"""The files of tests that are nearest to a change are those that import it."""

from nearest import MOST, importers, nearest


def test_nearest_tests_import_what_changed_by_the_shortest_chain() -> None:
    graph = {"a.py": {"b.py"}, "b.py": {"test_far.py", "c.py"}, "c.py": {"test_farther.py"}}
    assert nearest("a.py", graph) == ["test_far.py"]
    assert nearest("test_far.py", graph) == ["test_far.py"]
    assert nearest("c.py", graph) == ["test_farther.py"]
    assert nearest("nobody.py", graph) == []


def test_a_circle_of_imports_ends() -> None:
    assert nearest("a.py", {"a.py": {"b.py"}, "b.py": {"a.py"}}) == []


def test_modules_of_the_product_have_their_tests() -> None:
    graph = importers()
    assert "tests/analysis/test_packed.py" in nearest("analysis/core/packed.py", graph)
    assert "tests/server/test_decision.py" in nearest("server/intake/decision.py", graph)
    # A module of tests is imported by its bare name.
    assert "tests/server/test_random_surveys.py" in nearest("tests/server/random_surveys.py", graph)
    assert len(nearest("analysis/core/errors.py", graph)) == MOST
