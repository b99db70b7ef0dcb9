"""Find the page each heading is printed on, from the text of a PDF."""

import re
import subprocess


def page_texts(pdf, layout=True):
    """Text of the pages; without layout, columns come one after the other."""
    command = ["pdftotext", "-enc", "UTF-8", *(["-layout"] if layout else []), str(pdf), "-"]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return run.stdout.split("\f")[:-1]


def heading_pattern(title):
    """A line that starts with the title, which may run on to more lines.

    Nothing may follow on the line, so an entry of the table of contents,
    which ends in a page number, does not match.
    """
    letters = r"\s*".join(map(re.escape, re.sub(r"\s+", "", title)))
    return re.compile(rf"^[^\S\n]*{letters}[^\S\n]*$", re.MULTILINE)


def locate(titles, texts):
    """1-based pages of the titles, which come in reading order."""
    found, page = [], 0
    for title in titles:
        pattern = heading_pattern(title)
        while page < len(texts) and not pattern.search(texts[page]):
            page += 1
        if page == len(texts):
            raise LookupError(f"heading not found: {title!r}")
        found.append(page + 1)
    return found
