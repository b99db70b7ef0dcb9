"""Find the page each heading is printed on, from the text of a PDF."""

import re
import subprocess


def page_texts(pdf):
    run = subprocess.run(
        ["pdftotext", "-layout", "-enc", "UTF-8", str(pdf), "-"],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split("\f")[:-1]


def heading_pattern(title, columns):
    """A line that starts with the title; the title may run on to more lines.

    Nothing may follow on the line, so a table-of-contents entry, which ends
    in its page number, does not match. In a page of two columns the title may
    also start or end at a wide gap.
    """
    letters = r"\s*".join(map(re.escape, re.sub(r"\s+", "", title)))
    before, after = (
        (r"(?:^|(?<=\s{3}))", r"(?:\s*$|\s{3})") if columns else (r"^[^\S\n]*", r"[^\S\n]*$")
    )
    return re.compile(before + letters + after, re.MULTILINE)


def locate(titles, texts, columns=False):
    """1-based pages of the titles, which come in reading order."""
    found, page = [], 0
    for title in titles:
        pattern = heading_pattern(title, columns)
        while page < len(texts) and not pattern.search(texts[page]):
            page += 1
        if page == len(texts):
            raise LookupError(f"heading not found: {title!r}")
        found.append(page + 1)
    return found
