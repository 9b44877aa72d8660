"""The list of mutants names texts that the trunk has, and tests that exist."""

from pathlib import Path

import pytest
from mutants import DRAWN, Listed, Mutant

ROOT = Path(__file__).parent.parent
LISTED = Listed.read()


def test_each_mutant_changes_a_text_that_its_file_has_once() -> None:
    for mutant in LISTED.mutants:
        assert mutant.mutated() != (ROOT / mutant.file).read_text()


def test_a_text_that_is_gone_or_unchanged_is_refused() -> None:
    for old, new in (("no such text", "x"), ("import", "export"), ("PROTOCOL = ", "PROTOCOL = ")):
        with pytest.raises(
            ValueError, match=r"server/intake/wire\.py: expected once, and changed: "
        ):
            Mutant("server/intake/wire.py", old, new).mutated()


def test_each_mutant_meets_tests_that_exist() -> None:
    for mutant in LISTED.mutants:
        tests = LISTED.tests_of(mutant)
        assert tests
        assert all((ROOT / test.partition("::")[0]).is_file() for test in tests)


def test_those_by_hand_say_which_rule_they_break_and_others_are_as_many_as_are_drawn() -> None:
    by_hand = [mutant for mutant in LISTED.mutants if mutant.rule]
    assert len(by_hand) >= 18
    assert len(LISTED.mutants) - len(by_hand) == DRAWN
