"""The reader of a survey's facts about itself: who asks, why, for how long, and its end."""

from typing import Any
from urllib.parse import urlsplit

from analysis.survey.document import Table
from analysis.survey.image_file import read_image

#: The texts of the page, in their order, in Markdown without headings, images and HTML.
STUDY_TEXTS = ("organisation", "introduction", "contact", "consent", "thanks", "link_text")

#: The longest survey, in minutes. Hardly anybody finishes a longer one.
MOST_MINUTES = 120


def read_study(survey: Table) -> dict[str, Any]:
    """Return the facts about the study in a survey file, by their keys. All are optional.

    Raises
    ------
    SurveyError
        If a text is empty or lacks a language, if minutes are not a whole number, if the link is
        not a whole address, or if the logo is not an image.
    """
    study: dict[str, Any] = {
        key: text for key in STUDY_TEXTS if (text := survey.text(key, default=None)) is not None
    }
    logo = read_image(survey, "logo")
    if logo is not None:
        study["logo"] = logo
    minutes = survey.take(
        "minutes",
        lambda value: type(value) is int and 1 <= value <= MOST_MINUTES,
        f"a whole number of minutes from 1 to {MOST_MINUTES}",
        default=None,
    )
    if minutes is not None:
        study["minutes"] = minutes
    link = survey.take(
        "link",
        is_address,
        'an address such as "https://example.org/thanks", the same for everybody',
        default=None,
    )
    if link is not None:
        study["link"] = link
    elif "link_text" in study:
        raise survey.error("link_text", "left out without link, since it is the link's text")
    return study


def is_address(value: Any) -> bool:
    """Return whether a value is a whole web address without a user name or a password."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def missing(spec: dict[str, Any]) -> list[str]:
    """Return words for the facts that ethics boards ask for and a frozen survey does not state."""
    asked = {
        "organisation": "who asks",
        "introduction": "why",
        "contact": "whom to contact",
        "minutes": "how long it takes",
        "consent": "what people consent to",
    }
    return [f"{words} ({key})" for key, words in asked.items() if key not in spec]
