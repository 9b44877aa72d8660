"""Numbers are read as people in several countries type them, or not at all."""

import pytest

from server.console.typed import decimal_number, whole_number


@pytest.mark.parametrize(
    ("text", "whole", "decimal"),
    [
        ("4000", 4000, 4000.0),
        ("4,000", 4000, 4.0),
        ("4.000", 4000, 4.0),
        (" 4 000 ", 4000, None),
        ("1.234.567", 1234567, None),
        ("5,5", None, 5.5),
        ("5.5", None, 5.5),
        ("1.234,5", None, None),
        ("1,234.567", None, None),
        ("5%", None, None),
        ("-3", None, None),
        ("٣٬٠٠٠", 3000, 3000.0),
        ("۴٫۵", None, 4.5),
        ("１２", 12, 12.0),
        ("x٣", None, None),
        ("", None, None),
    ],
)
def test_typed_text_is_one_number_or_none(
    text: str, whole: int | None, decimal: float | None
) -> None:
    assert (whole_number(text), decimal_number(text)) == (whole, decimal)
