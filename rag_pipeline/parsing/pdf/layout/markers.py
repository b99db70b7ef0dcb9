"""What the start or end of a line gives away: list markers, leaders of a contents page."""

from __future__ import annotations

import re

BULLETS = "•◦▪▫●○■□◆◇▶►▸➢➔→✓✔❖‣⁃∙·※★☆ㆍ"
BULLET = re.compile(rf"^(?:[{BULLETS}]|[-–—*+o](?=\s))\s*")
NUMBER_MARKER = re.compile(
    r"^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxlIVXL]{1,5})[.)](?=\s|$)|[①-⑳❶-❿㉮-㉻]|[가-하][.)](?=\s)"
    r"|(?:step|schritt|étape|paso|단계|步骤|手順)\s*\d+\b)",
    re.IGNORECASE,
)
LEADER = re.compile(r"(?:\.\s?){4,}|(?:…\s?){2,}|(?:·\s?){4,}|_{6,}")
LEADER_END = re.compile(r"(?:(?:\.\s?){3,}|(?:…\s?){1,}|(?:·\s?){4,}|_{4,})\s*[\divxlcA-Z-]*$")


def starts_with_bullet(text: str) -> bool:
    """Is the first character a bullet, or a dash followed by space?

    >>> starts_with_bullet("• item"), starts_with_bullet("- item"), starts_with_bullet("-5 V")
    (True, True, False)
    """
    return bool(BULLET.match(text)) and len(text) > 1


def starts_with_number(text: str) -> bool:
    """Does the line begin with `1.`, `a)`, `(iv)`, `①` or `Step 3`?

    >>> starts_with_number("3. Turn"), starts_with_number("3.2 Turning")
    (True, False)
    """
    return bool(NUMBER_MARKER.match(text))


def is_leader_line(text: str) -> bool:
    """Is it an entry of a contents page, with dots up to the page number?

    >>> is_leader_line("1.2 Safety . . . . . . . 7"), is_leader_line("wait ...")
    (True, False)
    """
    # The expressions walk the whole line; most lines can be told at a glance.
    if not (".." in text or ". ." in text or "…" in text or "·" in text or "___" in text):
        return False
    return bool(LEADER.search(text)) and bool(LEADER_END.search(text))
