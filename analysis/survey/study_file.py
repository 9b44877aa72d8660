"""Reading what a survey says about itself: who asks, why, for how long, and its end."""

from typing import Any
from urllib.parse import urlsplit

from analysis.survey.document import Table
from analysis.survey.image_file import read_image

#: Texts of the page, in Markdown without headings, images and HTML, in their order there.
STUDY_TEXTS = ("organisation", "introduction", "contact", "consent", "thanks", "link_text")

#: A survey that takes longer is finished by hardly anybody.
MOST_MINUTES = 120


def read_study(survey: Table) -> dict[str, Any]:
    """Return what stands in a survey file of the study, by its keys; all of it is optional.

    Raises
    ------
    SurveyError
        If a text is empty or lacks a language, if minutes are no whole number, if the link is not a
        whole address, or if the logo is no image.
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
        _is_address,
        'an address such as "https://example.org/thanks", the same for everybody',
        default=None,
    )
    if link is not None:
        study["link"] = link
    elif "link_text" in study:
        raise survey.error("link_text", "left out without link, whose text it is")
    return study


def _is_address(value: Any) -> bool:
    """Return whether it is a whole address of the web, without a name or a password."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def missing(spec: dict[str, Any]) -> list[str]:
    """Return what ethics boards ask for and a frozen survey does not say, in words."""
    asked = {
        "organisation": "who asks",
        "introduction": "why",
        "contact": "whom to contact",
        "minutes": "how long it takes",
        "consent": "what people consent to",
    }
    return [f"{words} ({key})" for key, words in asked.items() if key not in spec]
